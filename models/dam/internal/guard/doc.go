// Package guard lets tests see code that touches memory behind its arguments. It
// is there on Linux alone.
package guard
