package voicescreen_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
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

// The answer in the README is that to the recording in it.
func TestReadmeShowsTheScoreOfItsRecording(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`"predicted_deepfake_score":([0-9.]+)`).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("the README shows no deepfake score")
	}
	f, err := os.Open("testdata/interview_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := newEngine(t, newMemory(t), nil).Analyze(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Scores {
		if got := fmt.Sprintf("%.2f", 100*s.Probability); s.Category == screen.Deepfake && got != m[1] {
			t.Errorf("the README shows %s, got %s", m[1], got)
		}
	}
}
