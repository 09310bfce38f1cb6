// Command accuracy measures package dsp against signals whose truth is known
// and prints the table of dsp/ACCURACY.md:
//
//	go run ./dsp/internal/accuracy [-reference ../shared/reference] > dsp/ACCURACY.md
//
// The column "made here" is measured on signals that the program makes, at
// settings of their own; the column "reference" on the files of the reference
// set, where that is at hand. Everything goes through [dsp.Analyzer], as a
// recording does.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
)

func main() {
	log.SetFlags(0)
	reference := flag.String("reference", "", "`directory` of the reference set; \"\" measures without it")
	flag.Parse()
	made := measure(makeSet())
	resamplingRows(made)
	var ref map[string]float64
	if *reference != "" {
		s, err := readSet(*reference)
		if err != nil {
			log.Fatal(err)
		}
		ref = measure(s)
		resamplingRows(ref)
	}
	w := bufio.NewWriter(os.Stdout)
	table(w, ref, made)
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

// table prints the rows with the figures measured on both sets. Nil or NaN
// is a figure that was not measured.
func table(w io.Writer, ref, made map[string]float64) {
	fmt.Fprint(w, `# Accuracy of package dsp

Printed by `+"`go run ./dsp/internal/accuracy -reference DIR`"+`; not typed. "Reference" is the reference set of signals whose truth is known by construction (or by resynthesis), "made here" are signals of the same kinds at other settings, which the program makes itself. "Field" is the best of Praat 6.3.07, openSMILE 3.0.1 and others on the reference set. All through the whole analysis, as a recording goes. A figure above its goal is marked.

| measure | unit | field | goal | reference | made here |
|---|---|---|---|---|---|
`)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.name, r.unit, r.field, number(r.goal), r.cell(ref), r.cell(made))
	}
}

func (r row) cell(got map[string]float64) string {
	v, ok := got[r.name]
	if !ok {
		v = math.NaN()
	}
	if v > r.goal {
		return number(v) + " (missed)"
	}
	return number(v)
}

// number prints three significant digits, and a dash for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	if v != 0 && math.Abs(v) < 1e-3 {
		return fmt.Sprintf("%.1e", v)
	}
	return fmt.Sprintf("%.3g", v)
}
