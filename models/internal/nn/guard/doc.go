// Package guard helps tests find code that accesses memory beyond its arguments.
// It exists on Linux only.
package guard
