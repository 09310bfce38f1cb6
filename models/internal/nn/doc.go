// Package nn is what the neural models of this module share: the layers of a
// transformer encoder (Vaswani et al. 2017), the memory of their activations, the
// goroutines that compute them, and the reading of their weights.
//
// A network has a [Layer] for each layer, read by a [Loader], and runs it on a
// [Workspace], which holds one sequence at a time. All numbers are float32, but for the
// factors of products with weights where those are pairs of bfloat16 or integers of eight
// bits. The order of a sum depends neither on the number of goroutines nor on the load.
//
// [Arrays] lists what a network holds ready for its products, for files that are mapped.
package nn
