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

	"dsp/wav":          {"internal/pcm"},
	"dsp/audiofile":    {"dsp/wav"},
	"dsp/lanes":        {"dsp"},
	"dsp":              {},
	"features":         {"dsp", "dsp/audiofile", "dsp/wav", "internal/pcm", "screen"},
	"features/spoof":   {"dsp", "dsp/lanes", "features", "screen"},
	"features/egemaps": {"dsp", "features"}, // the set that published models speak

	"models":                        {"dsp", "features", "features/spoof", "screen"},
	"models/shipped":                {"models", "screen"},
	"models/learn":                  {"dsp", "features", "internal/stats", "models", "screen"}, // what Calibrate does
	"models/dam":                    {"dsp", "features", "models", "models/internal/nn", "models/internal/nn/gemm", "models/internal/nn/simd", "models/internal/nn/tensorfile", "screen"},
	"models/ssl":                    {"dsp", "features", "models", "models/internal/nn", "models/internal/nn/tensorfile", "models/internal/nn/wav2vec", "screen"}, // detectors of synthetic voices that others trained
	"models/process":                {"dsp", "features", "models", "screen"},                                                                                      // programs of the user's that score
	"models/internal/nn":            {"models/internal/nn/gemm", "models/internal/nn/simd", "models/internal/nn/tensorfile"},                                      // layers of transformers
	"models/internal/nn/definition": {},                                                                                                                           // layers by their definition, for tests
	"models/internal/nn/gemm":       {},                                                                                                                           // matrix multiplication
	"models/internal/nn/guard":      {},                                                                                                                           // memory with an end, for tests
	"models/internal/nn/peak":       {},                                                                                                                           // the peak rate of a processor, for benchmarks
	"models/internal/nn/seeded":     {},                                                                                                                           // weights that are drawn, for tests
	"models/internal/nn/wav2vec":    {"models/internal/nn", "models/internal/nn/gemm", "models/internal/nn/simd", "models/internal/nn/tensorfile"},                // wav2vec 2.0 and HuBERT
	"models/internal/nn/tensorfile": {},                                                                                                                           // files of weights
	"models/internal/nn/simd":       {},                                                                                                                           // everything else that is done to each number

	"internal/document": {"internal/durable", "store"}, // values that replicas share
	"internal/pcm":      {},                            // 16-bit samples
	"internal/durable":  {},                            // what several packages ask of the file system
	"internal/stream":   {},                            // encryption of streams
	"internal/throttle": {},                            // lines of the log that could be too many

	// internal/proof serves tests.
	"internal/proof/accuracy":  {"dsp", "dsp/wav", "internal/proof/signals"},       // dsp against signals whose truth is known
	"internal/proof/agreement": {"dsp", "dsp/wav", "features", "features/egemaps"}, // features/egemaps against another program
	"internal/proof/chromium":  {"internal/proof/cost"},                            // pages in a browser
	"internal/proof/cost":      {},                                                 // bounds on what an input may cost, for fuzz targets
	"internal/proof/fused":     {},                                                 // how exactly assembly equals Go code
	"internal/proof/diskfault": {},                                                 // power failures and failing calls
	"internal/proof/testflag":  {},                                                 // defaults of flags of tests
	"internal/proof/child":     {},                                                 // programs that end when the test does
	"internal/proof/s3server":  {"internal/proof/child"},                           // an S3 server of a test
	"internal/proof/ramdisk":   {},                                                 // a file system in memory
	"internal/proof/pgserver":  {"internal/proof/child", "internal/proof/ramdisk"}, // a PostgreSQL server of a test
	"internal/proof/shared":    {},                                                 // the files beside the repository
	"internal/proof/signals":   {},                                                 // signals whose truth is known
	"internal/proof/soak":      {".", "httpadapter", "screen"},                     // a long load on the whole service
	"internal/stats":           {"dsp"},                                            // figures of scores, for models/learn and the laboratory

	// The laboratory: nothing outside lab and cmd/voicelab imports it.
	"lab/augment":  {"dsp"}, // channels and manipulations of recordings
	"lab/corpus":   {"dsp", "models", "screen"},
	"lab/evaluate": {"internal/stats"},
	"lab/manifest": {"internal/stats", "screen"},
	"lab/report":   {"dsp", "internal/stats", "lab/evaluate", "models", "screen"},
	"lab/prior":    {"dsp", "features", "internal/stats", "lab/manifest", "models", "models/learn", "screen"},
	"lab/simulate": {"dsp", "features", "internal/stats", "models", "models/learn", "screen"},
	"lab/train":    {"dsp", "features", "features/spoof", "internal/stats", "lab/augment", "lab/evaluate", "lab/manifest", "models", "models/learn", "screen"},
	"lab/protocol": {"features", "internal/stats", "lab/evaluate", "lab/train", "models", "models/learn", "screen"},

	"store":           {"screen"},
	"store/storetest": {"screen", "store"},
	"store/audio":     {"internal/durable", "store"},
	"store/audio/s3":  {"store", "store/audio"}, // apart, so that programs without S3 do not link its client
	"store/bolt":      {"internal/durable", "internal/stream", "screen", "store", "store/audio"},
	"store/memory":    {"screen", "store"},
	"store/postgres":  {"internal/stream", "screen", "store", "store/audio"},
	"audit":           {"internal/durable"},

	".": {
		"dsp", "dsp/audiofile", "dsp/wav", "features", "internal/document", "internal/durable", "internal/throttle",
		"models", "models/learn", "models/shipped", "screen", "store", "store/bolt",
	},

	"report": {".", "dsp", "features", "screen"}, // an analysis in words and pictures

	"httpadapter":                   {".", "audit", "internal/document", "internal/durable", "internal/stream", "internal/throttle", "screen", "store"},
	"httpadapter/webhook":           {".", "internal/document", "internal/durable", "screen", "store"},
	"httpadapter/internal/docspage": {},         // writes the page of the API
	"httpadapter/client":            {"screen"}, // what a caller imports: nothing of the engine

	"console": {".", "audit", "httpadapter", "httpadapter/webhook", "internal/stats", "internal/throttle", "models/learn", "report", "screen", "store"}, // the web page

	"voicescreentest": {"features", "internal/proof/signals", "models", "screen"}, // for the tests of programs that embed the engine

	"internal/command": {".", "dsp/wav", "features", "models", "models/dam", "models/process", "models/shipped", "models/ssl", "screen"}, // what the programs share
	"cmd/voicescreen": {
		".", "audit", "console", "dsp", "features", "features/egemaps", "httpadapter", "httpadapter/webhook", "internal/command", "internal/durable", "internal/stats", "internal/throttle",
		"models/learn", "models/process", "report", "screen", "store", "store/audio", "store/audio/s3", "store/bolt", "store/memory", "store/postgres",
	},
	"cmd/voicelab": {
		".", "dsp", "features", "internal/command", "internal/durable", "internal/stats",
		"lab/corpus", "lab/evaluate", "lab/manifest", "lab/prior", "lab/protocol", "lab/report", "lab/simulate", "lab/train",
		"models", "models/dam", "models/learn", "models/process", "models/shipped", "models/ssl", "screen",
	},
}

func TestImportOrder(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || len(file) > 1 && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir // as the go command does
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
