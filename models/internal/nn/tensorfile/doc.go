// Package tensorfile reads the files in which the weights of neural networks are
// published, PyTorch checkpoints, and reads and writes the form in which the models
// of this module open fastest ([Open], [Write], [Map]).
//
// Such a file comes from outside. Nothing in it is executed, no number in it decides
// how much memory is allocated, and each fault is an error that names it. Tensors stay
// in the file until they are read, one at a time, as float32.
package tensorfile

import "errors"

// ErrWeights is wrapped by the errors about tensors that do not fit the network:
// one is missing, unknown or of the wrong shape. The message names it.
var ErrWeights = errors.New("weights do not fit the network")

// count returns the number of elements of a tensor of these dimensions.
func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
