// Command agreement compares package features/egemaps with openSMILE 3.0.1 on the files
// of the reference set and prints docs/EGEMAPS.md:
//
//	go run ./internal/proof/agreement -reference ../shared/reference > docs/EGEMAPS.md
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/egemaps"
)

func main() {
	log.SetFlags(0)
	reference := flag.String("reference", "../shared/reference", "`directory` of the reference set")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	if err := run(out, *reference); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// A sample is one file measured by both programs.
type sample struct {
	name         string
	speech       bool
	ours, theirs []float64 // in the order of the schema
}

// run measures the files of the reference set and prints the page.
func run(w io.Writer, dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "functionals_praat_egemaps.json"))
	if err != nil {
		return err
	}
	var all map[string]struct{ EGeMAPS map[string]float64 }
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	var names []string
	for name, v := range all {
		if len(v.EGeMAPS) > 0 { // openSMILE measures nothing in 30 ms
			names = append(names, name)
		}
	}
	slices.Sort(names)
	m, e := features.NewMeasurer(), egemaps.NewMeasurer()
	var set []sample
	for _, name := range names {
		file, speech := strings.CutPrefix(name, "real/")
		path := filepath.Join(dir, "recorded", file+".wav")
		if !speech {
			path = filepath.Join(dir, "synthetic", strings.TrimPrefix(name, "synth/")+".wav")
		}
		c, err := read(path)
		if err != nil {
			return err
		}
		s := sample{name: name, speech: speech, ours: e.Measure(m.Measure(c)).Values}
		for i := range s.ours {
			f, _ := egemaps.Schema().Feature(i)
			v, ok := all[name].EGeMAPS[f]
			if !ok {
				return fmt.Errorf("%s: no %s", name, f)
			}
			s.theirs = append(s.theirs, v)
		}
		set = append(set, s)
	}
	page(w, set)
	return nil
}

func read(path string) (*features.Channel, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &features.Channel{Samples: a.Samples, Rate: a.SampleRate}, nil
}

// agreement holds how one functional agrees over some files.
type agreement struct {
	n           int
	correlation float64 // Pearson's
	bias        float64 // mean of ours less theirs
	mean, sd    float64 // of theirs
}

// compare compares functional i over the files that keep holds for and in which both
// programs have it. openSMILE writes 0 for an undefined value.
func compare(set []sample, i int, keep func(sample) bool) agreement {
	var x, y []float64
	for _, s := range set {
		if keep(s) && !math.IsNaN(s.ours[i]) && s.theirs[i] != 0 {
			x, y = append(x, s.ours[i]), append(y, s.theirs[i])
		}
	}
	a := agreement{n: len(x), sd: dsp.SD(y), mean: dsp.Mean(y)}
	mx, my := dsp.Mean(x), a.mean
	a.bias = mx - my
	var xy, xx, yy float64
	for j := range x {
		xy += (x[j] - mx) * (y[j] - my)
		xx += (x[j] - mx) * (x[j] - mx)
		yy += (y[j] - my) * (y[j] - my)
	}
	a.correlation = xy / math.Sqrt(xx*yy)
	return a
}
