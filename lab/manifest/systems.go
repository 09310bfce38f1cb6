package manifest

import (
	_ "embed"
	"encoding/csv"
	"strconv"
	"strings"
)

// systems.csv names, for the systems of the shared speech, the decoder that makes
// the waveform and the year of the first publication. The column basis says where
// the decoder is from: "named" is the system's own name, "usual" what systems of
// that publication commonly use, since few pages name their vocoder, and empty is
// unknown. Years are those of the first paper or preprint, else those in the name
// of the page; a manipulation made with a classical method has the year of that.
// Nobody checked the entries against the recordings. A wrong one moves recordings
// between the sides of a hold-out; it does not enter a model.
//
//go:embed systems.csv
var systemsFile string

// A system is one line of systems.csv.
type system struct {
	decoder string
	year    int
}

var systems = readSystems(systemsFile)

// readSystems reads the table. It panics where the table is broken, which a test
// of this package would meet first.
func readSystems(file string) map[string]system {
	lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		panic("manifest: systems.csv: " + err.Error())
	}
	out := map[string]system{}
	for _, l := range lines[1:] {
		year, err := strconv.Atoi(l[2])
		if err != nil {
			panic("manifest: systems.csv: " + err.Error())
		}
		out[l[0]] = system{l[1], year}
	}
	return out
}

// Family is what a synthetic recording is held out with: the decoder of its
// system where that is known, such as "hifigan", else the system itself, else the
// recording. Systems of one family share what a decoder leaves in the waveform.
func (r *Row) Family() string {
	if d := systems[r.System].decoder; d != "" {
		return d
	}
	if Known(r.System) {
		return "\x00system " + r.System
	}
	return "\x00" + r.Path
}

// Year is the year of the first publication of the system of a row, 0 if unknown.
func (r *Row) Year() int { return systems[r.System].year }
