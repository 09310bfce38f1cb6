package tensorfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// withPickle is a checkpoint of testdata with another pickle.
func withPickle(t *testing.T, name, pickle string) []byte {
	t.Helper()
	b := testFile(t, name)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		var from io.Reader = strings.NewReader(pickle)
		if !strings.HasSuffix(f.Name, "/data.pkl") {
			if from, err = f.Open(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestNestedCheckpoints puts around a state dict what trainings put there: the tensors are
// those of the state dict alone.
func TestNestedCheckpoints(t *testing.T) {
	const name = "small.ckpt"
	text := func(s string) string {
		return string(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(s)))) + s
	}
	plain := string(pickleOf(t, name))
	inner := strings.TrimSuffix(strings.TrimPrefix(plain, "\x80\x02"), ".")
	around := func(keys ...string) string {
		p := inner
		for _, k := range keys {
			p = "}(" + text("epoch") + "K\x07" + text("loss") + "G?\xd0\x00\x00\x00\x00\x00\x00" + text("optimizer") + "}" + text("param_groups") + "]}as" +
				text(k) + p + text("history") + "](NK\x01eu"
		}
		return "\x80\x02" + p + "."
	}
	parallel := plain
	want, err := OpenCheckpoint(bytes.NewReader(testFile(t, name)), int64(len(testFile(t, name))))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range want.Names() {
		parallel = strings.ReplaceAll(parallel, text(key), text("module."+key))
	}
	for what, c := range map[string]struct{ pickle, fault string }{
		"alone":           {plain, ""},
		"model":           {around("model"), ""},
		"state_dict":      {around("state_dict"), ""},
		"a model's":       {around("state_dict", "model"), ""},
		"several devices": {parallel, ""},
		"an unknown key":  {around("ema"), "is a number, want a tensor"},
		"deep":            {around("model", "model", "model", "model"), "is a number, want a tensor"},
		"two":             {"\x80\x02}(" + text("model") + "}" + text("state_dict") + "}u.", "several of"},
		"a called class":  {"\x80\x02}(" + text("model") + inner + text("args") + "cargparse\nNamespace\n)Ru.", `calls "argparse Namespace"`},
		"an instance":     {"\x80\x02}(" + text("model") + inner + text("args") + "cargparse\nNamespace\n)\x81}" + text("lr") + "K\x01sbu.", `calls "argparse Namespace"`},
	} {
		b := withPickle(t, name, c.pickle)
		got, err := OpenCheckpoint(bytes.NewReader(b), int64(len(b)))
		if c.fault != "" {
			if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: got %v, want %q", what, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: got %v", what, err)
			continue
		}
		if !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("%s: got the tensors %q", what, got.Names())
			continue
		}
		key := want.Names()[0]
		dims, _ := want.Dims(key)
		x, y := make([]float32, count(dims)), make([]float32, count(dims))
		if err := errors.Join(want.Read(x, key, dims), got.Read(y, key, dims)); err != nil || !slices.Equal(x, y) {
			t.Errorf("%s: %s: got other numbers, %v", what, key, err)
		}
	}
}
