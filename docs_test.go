package voicescreen_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// filePath is a path of a file in the running text of a page. A path with a part
// in capitals is an example.
var filePath = regexp.MustCompile("`([a-z][a-z0-9_./-]*\\.(?:go|json|md))`")

func TestArchitectureNamesFilesThatExist(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	found := filePath.FindAllStringSubmatch(string(text), -1)
	if len(found) < 20 {
		t.Errorf("got %d paths, want at least 20: the pattern does not match any more", len(found))
	}
	for _, m := range found {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}

func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range order {
		name := pkg
		switch top, rest, _ := strings.Cut(pkg, "/"); {
		case pkg == ".":
			name = "voicescreen"
		case top == "lab":
			name = "lab/*"
		case strings.HasPrefix(pkg, "internal/proof/"):
			name = "internal/proof"
		case strings.Contains(rest, "internal/"):
			name, _, _ = strings.Cut(pkg, "/internal/") // is part of its parent
		}
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("package %s is not on the page, as `%s`", pkg, name)
		}
	}
}
