// Package memory is a store in memory, for tests and for programs whose sessions need
// not survive the process. It keeps the audio in memory too.
package memory
