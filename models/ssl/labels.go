package ssl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Words that say what a class is, without what is not a letter. A class with another
// name is not guessed.
var (
	syntheticWords = []string{"aigenerated", "aivoice", "deepfake", "fake", "fakeaudio", "generated", "spoof", "spoofed", "synthesized", "synthetic"}
	genuineWords   = []string{"authentic", "bonafide", "genuine", "human", "humanvoice", "real", "realaudio"}
)

// letters returns the lower-case letters of a name.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// synthetic returns which of the classes are synthetic: those of stated, which must be
// among them, or where nothing is stated those whose names say so. In that case the
// names of all other classes must say that they are genuine. Some, but not all, classes
// are synthetic. Errors wrap ErrLabels.
func synthetic(labels, stated []string) ([]bool, error) {
	is := make([]bool, len(labels))
	n := 0
	for i, name := range labels {
		word := letters(name)
		switch {
		case slices.Contains(labels[:i], name):
			return nil, fmt.Errorf("%w: two classes have the name %.40q", ErrLabels, name)
		case len(stated) > 0:
			is[i] = slices.Contains(stated, name)
		case slices.Contains(syntheticWords, word):
			is[i] = true
		case !slices.Contains(genuineWords, word):
			return nil, fmt.Errorf("%w: of the classes %.200q, state those that are", ErrLabels, labels)
		}
		if is[i] {
			n++
		}
	}
	for _, name := range stated {
		if !slices.Contains(labels, name) {
			return nil, fmt.Errorf("%w: there is no class %.40q, only %.200q", ErrLabels, name, labels)
		}
	}
	if n == 0 || n == len(labels) {
		return nil, fmt.Errorf("%w: %d of the classes %.200q are, want some, but not all", ErrLabels, n, labels)
	}
	return is, nil
}
