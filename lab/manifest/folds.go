package manifest

import (
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// Folds splits rows into k folds so that no row is tested by a model that saw
// its source, its system or its speaker. Sources are dealt out whole, as
// [stats.Folds] does; a training set then leaves out, besides the sources
// of its test rows, every row that shares a system or a speaker with one of
// them. Each row is in exactly one test set. There are at most as many folds as
// sources.
//
// A key of unknown value ("", "-" or beginning with "unknown") shares nothing.
// Where the source of a row is unknown its speaker stands in for it, and where
// that is unknown too its system: dealt one by one, the rows of a speaker or a
// system would be in every fold, and hardly any would be left to train on. A row
// of which none is known is a source of its own.
func Folds(rows []Row, k int, seed uint64) []stats.Fold {
	source := make([]string, len(rows))
	for i := range rows {
		source[i] = rows[i].dealtBy()
	}
	folds := stats.Folds(source, k, seed)
	for f := range folds {
		folds[f].Train = apart(rows, folds[f])
	}
	return folds
}

// dealtBy is what rows are dealt out whole by: the source, or what stands in for
// it. See Folds.
func (r *Row) dealtBy() string {
	switch {
	case r.Origin() != "":
		return r.Source
	case r.Person() != "":
		return "\x00speaker " + r.Person()
	case Known(r.System):
		return "\x00system " + r.System
	}
	return "\x00" + r.Path
}

// Known says that the value of a column names something: it is neither empty nor
// "-", and does not begin with "unknown".
func Known(value string) bool {
	return value != "" && value != "-" && !strings.HasPrefix(value, "unknown")
}

// apart returns the training rows of a fold that share nothing with its test
// rows.
func apart(rows []Row, f stats.Fold) []int {
	return apartBy(rows, f, "source", "system", "speaker")
}

// apartBy returns the training rows of a fold that share none of the named keys
// with its test rows.
func apartBy(rows []Row, f stats.Fold, names ...string) []int {
	taken := map[[2]string]bool{}
	for _, i := range f.Test {
		for _, key := range rows[i].keys() {
			taken[key] = slices.Contains(names, key[0])
		}
	}
	return slices.DeleteFunc(slices.Clone(f.Train), func(i int) bool {
		return slices.ContainsFunc(rows[i].keys(), func(k [2]string) bool { return taken[k] })
	})
}

// keys are what a row shares with others.
func (r *Row) keys() [][2]string {
	var keys [][2]string
	for _, k := range [][2]string{{"source", r.Source}, {"system", r.System}, {"speaker", r.Speaker}} {
		if Known(k[1]) {
			keys = append(keys, k)
		}
	}
	return keys
}
