//go:build !linux

package process

// host is for a test on Linux.
func host() {}
