package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// warnReadable warns of files that hold keys or secrets and that others than their
// owner can read or write. It leaves out "" and files that cannot be looked at, whose
// error comes when they are read. Windows has other permissions, which it does not
// look at.
func warnReadable(stderr io.Writer, files ...string) {
	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		fmt.Fprintf(stderr, "voicescreen: warning: %s holds keys or secrets, and other users than its owner can access it (mode %#o); run \"chmod 600 %s\"\n", name, info.Mode().Perm(), name)
	}
}
