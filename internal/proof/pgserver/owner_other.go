//go:build !unix

package pgserver

import "os/exec"

// own does nothing: the cluster is the user's own.
func own(string) error { return nil }

// asOwner does nothing: the cluster is the user's own.
func asOwner(*exec.Cmd) error { return nil }
