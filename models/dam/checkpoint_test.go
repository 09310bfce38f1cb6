package dam

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// readAll opens a checkpoint of the small shape and reads every tensor.
func readAll(b []byte) (weights, error) {
	read, err := tensors(bytes.NewReader(b), int64(len(b)), small)
	if err != nil {
		return nil, err
	}
	return readWeights(read)
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// foldedTolerance is in units of the weights, which are of the order of 0.3:
// sums of 32 products in float32, in another order.
const foldedTolerance = 1e-6

func TestFoldedWeightAgainstTorch(t *testing.T) {
	var golden struct {
		Files map[string]struct{ Folded map[string][]float64 }
	}
	if err := json.Unmarshal(testFile(t, "small.json"), &golden); err != nil {
		t.Fatal(err)
	}
	w, err := readAll(testFile(t, "small.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, want := range golden.Files["small.ckpt"].Folded {
		got := w[name].data
		if len(got) != len(want) {
			t.Fatalf("%s: got %d numbers, want %d", name, len(got), len(want))
		}
		for i := range want {
			n++
			if math.Abs(float64(got[i])-want[i]) > foldedTolerance {
				t.Fatalf("%s[%d]: got %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	if n == 0 {
		t.Fatal("nothing was compared")
	}
}

// Keys with and without their prefix give the same weights. The other types give
// them within their precision, 2⁻¹¹ and 2⁻⁸ of a number, and as much again for the
// folded updates.
func TestFormsOfOneCheckpoint(t *testing.T) {
	want, err := readAll(testFile(t, "small.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, precision := range map[string]float64{"small-bare.ckpt": 0, "small-f16.ckpt": 1.0 / (1 << 11), "small-bf16.ckpt": 1.0 / (1 << 8)} {
		got, err := readAll(testFile(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for key, w := range want {
			for i, v := range w.data {
				if d := math.Abs(float64(got[key].data[i] - v)); d > precision*(math.Abs(float64(v))+1) {
					t.Fatalf("%s: %s[%d]: got %v, want %v", name, key, i, got[key].data[i], v)
				}
			}
		}
	}
}

// rewrite copies a checkpoint, with each file replaced by the result of change. It
// adds the file byteorder, for which change gets nil. A nil result removes the file.
func rewrite(t testing.TB, b []byte, method uint16, change func(name string, data []byte) []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	put := func(name string, data []byte) {
		data = change(strings.TrimPrefix(name, "small/"), data)
		if data == nil {
			return
		}
		fw, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fw.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		if _, err := data.ReadFrom(rc); err != nil {
			t.Fatal(err)
		}
		put(f.Name, data.Bytes())
	}
	put("small/byteorder", nil) // which newer versions write
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// renamed replaces a key in the pickle by another of the same length.
func renamed(from, to string) func(string, []byte) []byte {
	return func(name string, data []byte) []byte {
		if name != "data.pkl" {
			return data
		}
		if len(from) != len(to) || !bytes.Contains(data, []byte(from)) {
			panic(fmt.Sprintf("%s cannot become %s", from, to))
		}
		return bytes.ReplaceAll(data, []byte(from), []byte(to))
	}
}

func same(_ string, data []byte) []byte { return data }

func TestCheckpointsThatDoNotFit(t *testing.T) {
	b := testFile(t, "small.ckpt")
	const fc2 = "llma.backbone.layers.1.fc2.weight"
	pickle := func(p string) []byte {
		return rewrite(t, b, zip.Store, func(name string, data []byte) []byte {
			if name == "data.pkl" {
				return []byte(p)
			}
			return data
		})
	}
	for name, c := range map[string]struct {
		file []byte
		want error
		text string
	}{
		"empty":             {nil, ErrCheckpoint, "zip"},
		"not a zip file":    {[]byte("PK\x03\x04 and nothing more"), ErrCheckpoint, "zip"},
		"cut in half":       {b[:len(b)/2], ErrCheckpoint, "zip"},
		"without a pickle":  {rewrite(t, b, zip.Store, func(n string, d []byte) []byte { return map[bool][]byte{true: nil, false: d}[n == "data.pkl"] }), ErrCheckpoint, "data.pkl"},
		"without a storage": {rewrite(t, b, zip.Store, func(n string, d []byte) []byte { return map[bool][]byte{true: nil, false: d}[n == "data/3"] }), ErrCheckpoint, "its file is missing"},
		"with a short storage": {rewrite(t, b, zip.Store, func(n string, d []byte) []byte {
			if n == "data/3" {
				return d[4:]
			}
			return d
		}), ErrCheckpoint, "bytes, want"},
		"compressed":                 {rewrite(t, b, zip.Deflate, same), ErrCheckpoint, "compressed"},
		"a big-endian machine's":     {withOrder(t, b, "big"), ErrCheckpoint, "little-endian"},
		"a key that is unknown":      {rewrite(t, b, zip.Store, renamed(fc2, "llma.backbone.layers.9.fc2.weight")), ErrWeights, "layers.9.fc2.weight is unknown"},
		"a key of a higher layer":    {rewrite(t, b, zip.Store, renamed(fc2, "llma.backbone.layers.1.fc3.weight")), ErrWeights, "fc3.weight is unknown"},
		"an update without its half": {rewrite(t, b, zip.Store, renamed("layers.1.self_attn.q_proj.lora_A.default", "layers.1.self_attn.q_proj.lora_C.default")), ErrWeights, "lora_C"},
		"a turned tensor":            {rewrite(t, b, zip.Store, renamed("llma.backbone.layers.1.fc1.weight", "llma.backbone.layers.1.fc2.weight")), ErrCheckpoint, "twice"},
		"a pickle of a number":       {pickle("\x80\x02K\x01."), ErrCheckpoint, "a number, want a dictionary"},
		"a pickle that calls":        {pickle("\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."), ErrCheckpoint, `calls "os system"`},
		"a pickle that calls new":    {pickle("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R."), ErrCheckpoint, `calls "os system"`},
		"a pickle with an instance":  {pickle("\x80\x02cos\nsystem\n)\x81."), ErrCheckpoint, `calls "os system"`},
		"a pickle of a list":         {pickle("\x80\x02]."), ErrCheckpoint, "holds a list, want a dictionary"},
		"a tensor that is a number":  {pickle("\x80\x02}X\x01\x00\x00\x00aK\x01s."), ErrCheckpoint, "a is a number, want a tensor"},
		"a pickle that ends":         {pickle("\x80\x02}X\xff\xff\xff\x7fa"), ErrCheckpoint, "ends early"},
		"a pickle without an end":    {pickle("\x80\x02}"), ErrCheckpoint, "ends early"},
		"an empty stack":             {pickle("\x80\x02s."), ErrCheckpoint, "stack is empty"},
		"an empty memo":              {pickle("\x80\x02h\x05."), ErrCheckpoint, "memo 5"},
		"no tensors at all":          {pickle("\x80\x02}."), ErrWeights, "is missing"},
		"a pickle of two values":     {pickle("\x80\x02}}."), ErrCheckpoint, "left over"},
		"a pickle of great length":   {pickle(strings.Repeat("N", tensorfile.MaxPickle+1)), ErrCheckpoint, "more than"},
	} {
		_, err := readAll(c.file)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.want, c.text)
		}
	}
}

func withOrder(t *testing.T, b []byte, order string) []byte {
	return rewrite(t, b, zip.Store, func(name string, data []byte) []byte {
		if name == "byteorder" {
			return []byte(order)
		}
		return data
	})
}

// The checksum detects a flipped bit of a tensor when the tensor is read.
func TestFlippedBit(t *testing.T) {
	b := slices.Clone(testFile(t, "small.ckpt"))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if f.Name != "small/data/7" {
			continue
		}
		at, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		b[at] ^= 1
	}
	if _, err := readAll(b); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v, want a checksum error", err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(testFile(f, "small-bf16.ckpt"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		cost.Check(t, len(b), func() { _, err = readAll(b) })
		if err != nil && !errors.Is(err, ErrCheckpoint) && !errors.Is(err, ErrWeights) {
			t.Fatalf("got %v, want ErrCheckpoint or ErrWeights", err)
		}
	})
}
