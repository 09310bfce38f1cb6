package ssl

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

// maxText is the length in bytes of the longest text of a card. Chosen.
const maxText = 400

// Card is what is known about a model besides its weights.
type Card struct {
	Name        string       `json:"name"`
	Licence     string       `json:"licence,omitempty"` // of the weights; "" if it is not known
	Source      string       `json:"source,omitempty"`  // where the weights are from, in words; "" if it is not known
	Labels      []string     `json:"labels"`            // of the classes
	Synthetic   []bool       `json:"synthetic"`         // of each class; some, but not all
	Calibration *Calibration `json:"calibration,omitempty"`
}

// Calibration makes a probability of the score s of a recording (Platt 1999):
// 1/(1 + exp(−(A·s + B))).
type Calibration struct {
	A     float64 `json:"a"` // above 0
	B     float64 `json:"b"`
	Prior float64 `json:"prior"` // share of synthetic recordings that the probability assumes, above 0 and below 1
	On    string  `json:"on"`    // the recordings, in words
}

// check returns an error that wraps ErrFile if the calibration is invalid.
func (c *Calibration) check() error {
	finite := !math.IsInf(c.A, 0) && !math.IsInf(c.B, 0) && !math.IsNaN(c.B)
	switch {
	case !finite || !(c.A > 0):
		return fmt.Errorf("%w: the calibration has the slope %v and the offset %v, want finite numbers and a slope above 0", ErrFile, c.A, c.B)
	case !(c.Prior > 0 && c.Prior < 1):
		return fmt.Errorf("%w: the calibration has the prior %v, want above 0 and below 1", ErrFile, c.Prior)
	case c.On == "" || len(c.On) > maxText:
		return fmt.Errorf("%w: the calibration has a text of %d bytes, want 1 to %d", ErrFile, len(c.On), maxText)
	}
	return nil
}

// contents is the header of a converted model.
type contents struct {
	Network wav2vec.Shape `json:"network"`
	Card    Card          `json:"card"`
	SHA256  string        `json:"sha256"`         // of the published file, in hexadecimal
	Int8    bool          `json:"int8,omitempty"` // see Options.Int8
	CRC     uint32        `json:"crc32c"`         // of the JSON of the other members
}

// seal returns the header with its checksum.
func (c contents) seal() (contents, error) {
	c.CRC = 0
	b, err := json.Marshal(c)
	c.CRC = crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return c, err
}

// checkSealed is check for a header in a file.
func (c contents) checkSealed() error {
	if sealed, err := c.seal(); err != nil || sealed.CRC != c.CRC {
		return fmt.Errorf("%w: the checksum of the header is wrong", ErrFile)
	}
	return c.check()
}

// Tensors yields what the file holds: the weights as the network uses them.
func (c contents) Tensors() iter.Seq2[string, []int] { return c.Network.Packed(c.Int8) }

// check returns an error that wraps ErrWeights or ErrFile if the header is invalid.
func (c contents) check() error {
	if err := c.Network.Check(); err != nil {
		return err
	}
	if c.Network.Frames(windowLongest) < 1 || c.Network.Frames(windowLongest) > windowLongest/minHop {
		return fmt.Errorf("%w: the convolutions make %d frames of %d samples, want 1 to %d", ErrWeights, c.Network.Frames(windowLongest), windowLongest, windowLongest/minHop)
	}
	n := &c.Card
	switch yes := slices.Index(n.Synthetic, true); {
	case n.Name == "" || len(n.Name) > maxText || len(n.Licence) > maxText || len(n.Source) > maxText:
		return fmt.Errorf("%w: name, licence or source is too long, or there is no name", ErrFile)
	case len(n.Labels) != c.Network.Classes || len(n.Synthetic) != c.Network.Classes:
		return fmt.Errorf("%w: %d labels and %d flags for %d classes", ErrFile, len(n.Labels), len(n.Synthetic), c.Network.Classes)
	case yes < 0 || !slices.Contains(n.Synthetic, false):
		return fmt.Errorf("%w: want some classes synthetic, but not all", ErrFile)
	case n.Calibration != nil:
		return n.Calibration.check()
	}
	return nil
}

// minHop is the least number of samples between two frames, so that a file cannot ask
// for a long sequence. Chosen: a quarter of the published 320.
const minHop = 80

// NonCommercial reports whether the name of a licence says that it does not allow
// commercial use, as CC BY-NC-SA 4.0 does.
func NonCommercial(licence string) bool {
	words := strings.FieldsFunc(strings.ToLower(licence), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		if w == "nc" || w == "noncommercial" || w == "non" && i+1 < len(words) && words[i+1] == "commercial" {
			return true
		}
	}
	return false
}

// antiDeepfakeLicence and antiDeepfakeSource are those of the published checkpoints.
const (
	antiDeepfakeLicence = "CC BY-NC-SA 4.0"
	antiDeepfakeSource  = "AntiDeepfake, nii-yamagishilab (by the names of its tensors)"
)

// licenceOf returns the licence in the metadata of README.md of a directory of Hugging
// Face, or "".
func licenceOf(dir string) string {
	f, err := os.Open(filepath.Join(dir, "README.md"))
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f) // of up to 64 KiB each
	for n := 0; lines.Scan() && n < 1000; n++ {
		line := strings.TrimSpace(lines.Text())
		if n == 0 && line != "---" || n > 0 && line == "---" {
			return ""
		}
		if value, ok := strings.CutPrefix(line, "license:"); ok {
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			if len(value) > maxText {
				return ""
			}
			return value
		}
	}
	return ""
}
