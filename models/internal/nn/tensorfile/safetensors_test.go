package tensorfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// safetensorsFile is a safetensors file with this header and so many bytes of zeros.
func safetensorsFile(header string, numbers int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, numbers)...)
}

func openSafetensors(b []byte) (*Safetensors, error) {
	return OpenSafetensors(bytes.NewReader(b), int64(len(b)))
}

// TestSafetensorsOfPython reads what a program in Python wrote (testdata/README.md).
func TestSafetensorsOfPython(t *testing.T) {
	b, err := os.ReadFile("testdata/small.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if !IsSafetensors(b[:16]) {
		t.Errorf("the first bytes %q are not recognised", b[:16])
	}
	s, err := openSafetensors(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dims []int
		want []float32
	}{
		"single":       {[]int{2, 3}, []float32{0.1, -2, 3.5, 1e-30, 65504, -0}},
		"half":         {[]int{3}, []float32{0.0999755859375, -2, 6.097555160522461e-05}},
		"brain.weight": {[]int{1, 2, 2}, []float32{0.10009765625, -2, 9.98402083170343e-31, 9.969209968386869e+37}},
		"scalar":       {[]int{}, []float32{7}},
		"none":         {[]int{0, 4}, nil},
	} {
		if dims, ok := s.Dims(name); !ok || len(dims) != len(c.dims) {
			t.Errorf("%s: got dimensions %v, %v, want %v", name, dims, ok, c.dims)
		}
		got := make([]float32, len(c.want))
		if err := s.Read(got, name, c.dims); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, want := range c.want {
			if got[i] != want {
				t.Errorf("%s[%d]: got %v, want %v", name, i, got[i], want)
			}
		}
	}
	if got := strings.Join(s.Names(), " "); got != "brain.weight half none positions scalar single" {
		t.Errorf("got the names %s", got)
	}
	for name, c := range map[string]struct {
		tensor string
		dims   []int
		want   error
		text   string
	}{
		"a missing tensor":             {"absent", nil, ErrWeights, "absent is missing"},
		"a tensor of other sizes":      {"single", []int{3, 2}, ErrWeights, "single is [2 3], want [3 2]"},
		"a tensor of unsupported type": {"positions", []int{2}, ErrSafetensors, `"I64"`},
	} {
		err := s.Read(make([]float32, count(c.dims)), c.tensor, c.dims)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.want, c.text)
		}
	}
}

func TestBrokenSafetensors(t *testing.T) {
	const one = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":                       {nil, "length of the header"},
		"cut in the length":           {make([]byte, 7), "length of the header"},
		"a huge header":               {bytes.Repeat([]byte{0xff}, 100), "a header of 18446744073709551615 bytes"},
		"a header beyond the end":     {safetensorsFile("{"+one+"}", 8)[:20], "reaches beyond the end"},
		"no JSON":                     {safetensorsFile("x", 0), "not a JSON object"},
		"a list":                      {safetensorsFile("[]", 0), "not a JSON object"},
		"an object without an end":    {safetensorsFile("{"+one, 8), "EOF"},
		"two objects":                 {safetensorsFile("{"+one+"}{}", 8), "follows"},
		"a tensor twice":              {safetensorsFile("{"+one+","+one+"}", 8), `"a" is there twice`},
		"metadata twice":              {safetensorsFile(`{"__metadata__":{},"__metadata__":{}}`, 0), "there twice"},
		"metadata that is a number":   {safetensorsFile(`{"__metadata__":3}`, 0), "not a JSON object"},
		"a tensor that is a number":   {safetensorsFile(`{"a":3}`, 0), `"a"`},
		"a member more":               {safetensorsFile(`{"a":{"colour":3}}`, 0), "colour"},
		"no sizes":                    {safetensorsFile(`{"a":{"dtype":"F32","data_offsets":[0,8]}}`, 8), "want a list"},
		"many sizes":                  {safetensorsFile(`{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, 4), "9 sizes"},
		"a negative size":             {safetensorsFile(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "-1"},
		"a size with a fraction":      {safetensorsFile(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, 4), "1.5"},
		"sizes whose product is huge": {safetensorsFile(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}`, 4), "too many numbers"},
		"no numbers of a huge size":   {safetensorsFile(`{"a":{"dtype":"F32","shape":[0,9223372036854775808],"data_offsets":[0,0]}}`, 0), "too many numbers"},
		"no offsets":                  {safetensorsFile(`{"a":{"dtype":"F32","shape":[2]}}`, 8), "data_offsets"},
		"offsets in reverse":          {safetensorsFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8), "in order"},
		"offsets beyond the end":      {safetensorsFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 7), "within the 7 bytes"},
		"bytes for other sizes":       {safetensorsFile(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}}`, 8), "8 bytes, want 2 numbers"},
		"two tensors in one place":    {safetensorsFile("{"+one+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), `"b" begins at byte 0, want 8`},
		"a gap":                       {safetensorsFile("{"+one+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}`, 16), `"b" begins at byte 12, want 8`},
		"bytes left over":             {safetensorsFile("{"+one+"}", 9), "1 bytes after the last"},
		"many values":                 {safetensorsFile(`{"a":{"shape":[`+strings.Repeat("0,", maxSafetensorsValues+1)+"0]}}", 0), "more than 8192 values"},
	} {
		if _, err := openSafetensors(c.b); !errors.Is(err, ErrSafetensors) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrSafetensors with %q", name, err, c.want)
		}
	}
}

// TestSafetensorsThatShrank reads a tensor of a file that lost its end after it was
// opened.
func TestSafetensorsThatShrank(t *testing.T) {
	b := safetensorsFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8)
	s, err := OpenSafetensors(bytes.NewReader(b[:len(b)-1]), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Read(make([]float32, 2), "a", []int{2}); !errors.Is(err, ErrSafetensors) {
		t.Errorf("got %v, want ErrSafetensors", err)
	}
}

// TestSafetensorsCostInProportion opens files whose headers are full of one value.
func TestSafetensorsCostInProportion(t *testing.T) {
	n := min(cost.Size, MaxSafetensorsHeader) - 100
	full := func(begin, unit, end string) []byte {
		return safetensorsFile(begin+strings.Repeat(unit, (n-len(begin)-len(end))/len(unit))+end, 0)
	}
	var tensors strings.Builder
	for i := range maxSafetensorsValues/4 - 1 {
		tensors.WriteString(`"` + strings.Repeat("x", 40) + string(rune(0x4e00+i)) + `":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`)
	}
	for name, c := range map[string]struct {
		b  []byte
		ok bool
	}{
		"sizes":        {full(`{"a":{"shape":[`, "0,", "0]}}"), false},
		"few sizes":    {full(`{"a":{"shape":[`+strings.Repeat("0,", maxSafetensorsValues-10), " ", "0]}}"), false},
		"nested":       {full(`{"__metadata__":{"a":`, "[", ""), false},
		"a name":       {full(`{"`, "x", `":0}`), false},
		"metadata":     {full(`{"__metadata__":{"a":"`, "x", `"}}`), true},
		"escapes":      {full(`{"__metadata__":{"a":"`, `\u0000`, `"}}`), true},
		"spaces":       {full("{", " ", "}"), true},
		"no header":    {safetensorsFile("", 0), false},
		"many tensors": {safetensorsFile("{"+tensors.String()+`"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4), true},
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(c.b), func() {
				_, err := openSafetensors(c.b)
				if c.ok && err != nil || !c.ok && (!errors.Is(err, ErrSafetensors) || len(err.Error()) > 1000) {
					t.Errorf("got %.200v, want ErrSafetensors: %v", err, !c.ok)
				}
			})
		})
	}
}

func FuzzSafetensors(f *testing.F) {
	b, err := os.ReadFile("testdata/small.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(safetensorsFile(`{"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}`, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		cost.Check(t, len(b), func() {
			s, err := openSafetensors(b)
			if err != nil {
				if !errors.Is(err, ErrSafetensors) {
					t.Fatalf("got %v, want ErrSafetensors", err)
				}
				return
			}
			total := 0
			for _, name := range s.Names() {
				dims, ok := s.Dims(name)
				if !ok || total+count(dims) > len(b)/2 { // a type without numbers may have any size
					continue
				}
				total += count(dims)
				x := make([]float32, count(dims))
				if err := s.Read(x, name, dims); err != nil && !errors.Is(err, ErrSafetensors) {
					t.Fatalf("%q: got %v, want ErrSafetensors", name, err)
				}
			}
		})
	})
}
