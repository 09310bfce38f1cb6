package voicescreen_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/voicescreen/voicescreen"

// order lists, for each package, the packages of this module that its code may
// import. Tests may import anything to the left of what they test and the
// store implementations.
var order = map[string][]string{
	"dsp/wav":               {},
	"dsp":                   {},
	"dsp/internal/signals":  {}, // test signals whose truth is known
	"dsp/internal/accuracy": {"dsp", "dsp/internal/signals", "dsp/wav"},
	"models":                {"dsp"},
	"models/fit":            {"dsp", "models", "models/evaluate"},
	"models/evaluate":       {"dsp", "models"},
	"store":                 {"models"},
	"store/storetest":       {"models", "store"},
	"store/bolt":            {"models", "store"},
	"store/memory":          {"models", "store"},
	".":                     {"dsp", "dsp/wav", "models", "store", "store/bolt", "store/memory"},
	"httpadapter":           {".", "models"},
	"httpadapter/client":    {"models"}, // what a caller imports: nothing of the engine
	"cmd/voicescreen":       {".", "dsp", "dsp/wav", "models", "models/fit", "models/evaluate", "store", "store/bolt", "store/memory", "httpadapter"},
}

func TestImportOrder(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := path.Dir(filepath.ToSlash(file))
		allowed, known := order[pkg]
		if !known {
			t.Errorf("%s: package %s has no place in the import order", file, pkg)
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if name != module && !strings.HasPrefix(name, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			if to == "" {
				to = "."
			}
			if !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s; %s may import %v", file, to, pkg, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !seen["."] || !seen["dsp"] {
		t.Errorf("got packages %v, want at least the root and dsp", seen)
	}
}
