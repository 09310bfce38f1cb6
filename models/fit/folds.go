package fit

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A Fold is one round of cross-validation, by indices of rows.
type Fold struct{ Train, Test []int }

// Folds splits rows into k folds so that no row is tested by a model that saw
// its source, its system or its speaker. Sources are dealt out whole, the
// largest first to the fold with the fewest rows, in an order that the seed
// shuffles among equals; a training set then leaves out, besides the sources
// of its test rows, every row that shares a system or a speaker with one of
// them. Each row is in exactly one test set. There are at most as many folds as
// sources.
//
// A key of unknown value ("", "-" or beginning with "unknown") shares nothing.
// Where the source of a row is unknown its speaker stands in for it, and where
// that is unknown too its system: dealt one by one, the rows of a speaker or a
// system would be in every fold, and hardly any would be left to train on. A row
// of which none is known is a source of its own.
func Folds(rows []Row, k int, seed uint64) []Fold {
	bySource := map[string][]int{}
	for i := range rows {
		key := rows[i].dealtBy()
		bySource[key] = append(bySource[key], i)
	}
	sources := make([]string, 0, len(bySource))
	for s := range bySource {
		sources = append(sources, s)
	}
	slices.Sort(sources)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	slices.SortStableFunc(sources, func(a, b string) int { return len(bySource[b]) - len(bySource[a]) })

	folds := make([]Fold, min(k, len(sources)))
	for _, s := range sources {
		least := 0
		for f := range folds {
			if len(folds[f].Test) < len(folds[least].Test) {
				least = f
			}
		}
		folds[least].Test = append(folds[least].Test, bySource[s]...)
	}
	for f := range folds {
		slices.Sort(folds[f].Test)
		folds[f].Train = apart(rows, folds[f].Test)
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
	case known(r.System):
		return "\x00system " + r.System
	}
	return "\x00" + r.Path
}

// known says that a key names something.
func known(key string) bool {
	return key != "" && key != "-" && !strings.HasPrefix(key, "unknown")
}

// apart returns the rows that share nothing with the test rows.
func apart(rows []Row, test []int) []int {
	taken := map[[2]string]bool{}
	in := map[int]bool{}
	for _, i := range test {
		in[i] = true
		for _, key := range rows[i].keys() {
			taken[key] = true
		}
	}
	var train []int
	for i := range rows {
		if !in[i] && !slices.ContainsFunc(rows[i].keys(), func(k [2]string) bool { return taken[k] }) {
			train = append(train, i)
		}
	}
	return train
}

// keys are what a row shares with others.
func (r *Row) keys() [][2]string {
	var keys [][2]string
	for _, k := range [][2]string{{"source", r.Source}, {"system", r.System}, {"speaker", r.Speaker}} {
		if known(k[1]) {
			keys = append(keys, k)
		}
	}
	return keys
}
