package dam

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// TestModelFilesCostInProportion opens converted models with headers full of values,
// and a checkpoint full of files.
func TestModelFilesCostInProportion(t *testing.T) {
	n := min(cost.Size, tensorfile.MaxHeader) - 1000
	header := func(begin, unit string) []byte {
		text := begin + strings.Repeat(unit, (n-len(begin))/len(unit)) + "0]}"
		return append(binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text))), text...)
	}
	var shape bytes.Buffer
	fmt.Fprintf(&shape, `{"shape":{"Mels":1,"Frames":1,"Width":1,"Heads":1,"Inner":1,"Layers":1,"Hidden":1,"Shared":1,"Task":1},"tensors":[`)
	var many bytes.Buffer
	z := zip.NewWriter(&many)
	for i := 0; many.Len() < cost.Size/2; i++ {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"numbers":            header(shape.String(), "0,"),
		"empty tensors":      header(shape.String(), "{},"),
		"tensors":            header(shape.String(), `{"name":"","dims":[],"crc32c":0},`),
		"dimensions":         header(shape.String()+`{"name":"","crc32c":0,"dims":[`, "0,"),
		"names":              header(`{`, `"":0,`),
		"allowed numbers":    header(shape.String()+strings.Repeat("0,", tensorfile.MaxValues-20), strings.Repeat(" ", n/2)),
		"allowed dimensions": header(shape.String()+`{"name":"","crc32c":0,"dims":[`+strings.Repeat("0,", tensorfile.MaxValues-20), strings.Repeat(" ", n/2)),
		"a header not there": append([]byte(fileMagic), 0, 0, 15, 0),
		"many files":         many.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(b), func() {
				if _, err := tensors(bytes.NewReader(b), int64(len(b)), Published); !errors.Is(err, ErrFile) && !errors.Is(err, ErrCheckpoint) && !errors.Is(err, ErrWeights) {
					t.Errorf("got %v, want an error of the package", err)
				}
			})
		})
	}
}
