package main

import "github.com/voicescreen/voicescreen/internal/command"

// checkFiles returns a usage error if more than one file is standard input.
func checkFiles(files []string) error {
	n := 0
	for _, path := range files {
		if path == "-" {
			n++
		}
	}
	if n > 1 {
		return command.Usagef("there is one standard input, want \"-\" once")
	}
	return nil
}
