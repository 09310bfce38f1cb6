//go:build !windows

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the names in a directory durable. It returns nil on a file system that
// cannot sync directories.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
