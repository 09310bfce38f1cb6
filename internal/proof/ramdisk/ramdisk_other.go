//go:build !linux

package ramdisk

// Not every system has a file system in memory.
func dir() string { return "" }
