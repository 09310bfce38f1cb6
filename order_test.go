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
	"screen": {}, // the nouns

	"dsp/wav":        {},
	"dsp":            {},
	"features":       {"dsp", "dsp/wav", "screen"},
	"features/spoof": {"dsp", "features", "screen"},

	"models":                    {"dsp", "features", "features/spoof", "screen"},
	"models/shipped":            {"models", "screen"},
	"lab/evaluate":              {"dsp", "models", "screen"},
	"lab/report":                {"models", "lab/evaluate", "screen"},
	"models/fit":                {"dsp", "features", "features/spoof", "internal/records", "models", "lab/evaluate", "lab/augment", "models/shipped", "screen"},
	"lab/augment":               {"dsp"}, // channels and manipulations of recordings
	"lab/corpus":                {"dsp", "internal/records", "models", "screen"},
	"models/dam":                {"dsp", "features", "models", "models/dam/internal/gemm", "models/dam/internal/simd", "screen"},
	"models/dam/internal/gemm":  {}, // matrix multiplication
	"models/dam/internal/guard": {}, // memory with an end, for tests
	"models/dam/internal/simd":  {}, // everything else that is done to each number

	"internal/proof/cost":      {},                                           // of what an input may cost, for fuzz targets
	"internal/proof/diskfault": {},                                           // power failures and failing calls, for tests
	"internal/document":        {"internal/durable", "store"},                // values that replicas share
	"internal/durable":         {},                                           // what several packages ask of the file system
	"internal/proof/accuracy":  {"dsp", "dsp/wav", "internal/proof/signals"}, // dsp against signals whose truth is known
	"internal/proof/signals":   {},                                           // those signals
	"internal/records":         {},                                           // CSV files from outside
	"internal/stream":          {},                                           // encryption of streams

	"store":           {"screen"},
	"store/storetest": {"screen", "store"},
	"store/audio":     {"internal/durable", "store"},
	"store/bolt":      {"internal/durable", "internal/stream", "screen", "store", "store/audio"},
	"store/memory":    {"screen", "store"},
	"audit":           {"internal/durable"},

	".": {
		"dsp", "dsp/wav", "features",
		"models", "models/fit", "models/shipped", "screen", "store", "store/bolt",
	},

	"httpadapter":                   {".", "audit", "internal/document", "internal/durable", "internal/stream", "screen", "store"},
	"httpadapter/webhook":           {".", "internal/document", "internal/durable", "screen", "store"},
	"httpadapter/internal/docspage": {},         // writes the page of the API
	"httpadapter/client":            {"screen"}, // what a caller imports: nothing of the engine

	"internal/proof/soak": {".", "httpadapter", "screen"}, // a long load on the whole service
	"cmd/voicescreen": {
		".", "audit", "dsp", "dsp/wav", "features", "httpadapter", "httpadapter/webhook", "internal/durable", "internal/records",
		"models", "models/dam", "lab/evaluate", "lab/report", "models/fit", "lab/corpus", "models/shipped",
		"screen", "store", "store/bolt", "store/memory",
	},
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
