package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// warnReadable prints the warnings of exposed.
func warnReadable(stderr io.Writer, files ...string) {
	for _, w := range exposed(files...) {
		fmt.Fprintf(stderr, "voicescreen: warning: %s\n", w)
	}
}

// exposed returns a warning for each of the files, which hold keys or secrets, that
// other users than its owner can read or write. It leaves out "" and files that cannot
// be looked at, whose error comes when they are read. Windows has other permissions,
// which it does not look at.
func exposed(files ...string) (warnings []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s holds keys or secrets, and other users than its owner can access it (mode %#o); run \"chmod 600 %s\"", name, info.Mode().Perm(), name))
	}
	return warnings
}
