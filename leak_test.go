package voicescreen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackagesThatStartGoroutinesLookForLeaks finds every package whose code
// has a go statement or a call of a WaitGroup's Go, and wants goleak in its
// tests.
func TestPackagesThatStartGoroutinesLookForLeaks(t *testing.T) {
	starts, looks := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		dir := filepath.Dir(file)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.HasSuffix(file, "_test.go") {
			looks[dir] = looks[dir] || strings.Contains(string(text), "goleak.VerifyTestMain(") || strings.Contains(string(text), "goleak.Find(")
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts[dir] = true
			case *ast.SelectorExpr:
				starts[dir] = starts[dir] || n.Sel.Name == "Go"
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, yes := range starts {
		if yes && !looks[dir] {
			t.Errorf("package %s starts goroutines, and its tests do not look for those that are left over", dir)
		}
	}
	if !starts["."] || !starts["store/bolt"] {
		t.Errorf("got %v, want at least the root and store/bolt", starts)
	}
}
