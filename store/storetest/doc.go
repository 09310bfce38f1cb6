// Package storetest is the conformance suite that every implementation of
// [store.Store] must pass. It has a named case for each promise of the interface,
// races included, and compares random histories of calls with a model.
//
// The tests of this package plant faults in a correct store and show that the suite
// finds each of them.
package storetest
