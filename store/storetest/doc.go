// Package storetest is the suite that every implementation of [store.Store]
// must pass: a named case for each promise of the interface, races included,
// and random histories that are compared with a small model.
//
// Its own tests plant faults in a store that is right and show that the suite
// finds each of them.
package storetest
