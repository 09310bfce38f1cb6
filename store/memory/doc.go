// Package memory is a store that forgets everything when the process ends:
// for tests, and for programs that need no session beyond their own life. It
// keeps all audio in memory.
package memory
