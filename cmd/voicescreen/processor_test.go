//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processorTime returns how many ticks of a processor this process and all that descend
// from it have taken, with what ended children of theirs took. It is 0 where there is no
// /proc of Linux.
func processorTime() (ticks float64) {
	type process struct {
		parent string
		ticks  float64
	}
	all := map[string]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // proc_pid_stat(5); no name of the programs has a parenthesis
		f := strings.Fields(rest)
		if len(f) < 15 {
			continue
		}
		p := process{parent: f[1]}
		for _, field := range f[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(field, 64)
			p.ticks += n
		}
		all[filepath.Base(filepath.Dir(file))] = p
	}
	self := strconv.Itoa(os.Getpid())
	for pid, p := range all {
		for at := pid; ; at = all[at].parent {
			if at == self {
				ticks += p.ticks
			}
			if _, known := all[at]; at == self || !known {
				break
			}
		}
	}
	return ticks
}
