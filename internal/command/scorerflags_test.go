package command

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"python3 /opt/scorer.py":          {"python3", "/opt/scorer.py"},
		"  a\t b  ":                       {"a", "b"},
		`"C:\Program Files\a.exe" '' "'"`: {`C:\Program Files\a.exe`, "", "'"},
		`a'b c'd $HOME`:                   {"ab cd", "$HOME"},
		"":                                nil,
		`"" a`:                            nil,
		`a "b`:                            nil,
	} {
		if got, err := splitWords(line); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %q, %v, want %q", line, got, err, want)
		}
	}
}
