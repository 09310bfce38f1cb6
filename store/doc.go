// Package store holds the records of the service and the [Store] interface
// that keeps them. Package store/bolt is the default, store/memory forgets
// everything when the process ends, and store/storetest is the suite that
// every implementation must pass.
package store
