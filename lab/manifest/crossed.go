package manifest

import (
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// A Cell is a part of a hold-out: what is tested, what may be trained on, and what
// the cell holds out besides sources and speakers, such as a kind.
type Cell struct {
	stats.Fold
	Name string
}

// commonShare is the inverse of the share of rows from which on a speaker of
// several sources is a source of its own. Chosen: of the shared speech it is one
// voice, LJSpeech, of a fifth of the rows.
const commonShare = 10

// Units says which source each row counts to. It is the page, but for a speaker
// with more than a tenth of all rows, on several pages: that voice is one source.
func Units(rows []Row) []string {
	count, pages := map[string]int{}, map[string]map[string]bool{}
	for i := range rows {
		p := rows[i].Person()
		if p == "" {
			continue
		}
		if count[p]++; pages[p] == nil {
			pages[p] = map[string]bool{}
		}
		pages[p][rows[i].Source] = true
	}
	units := make([]string, len(rows))
	for i := range rows {
		units[i] = rows[i].dealtBy()
		if p := rows[i].Person(); p != "" && commonShare*count[p] > len(rows) && len(pages[p]) > 1 {
			units[i] = "\x00speaker " + p
		}
	}
	return units
}

// Crossed splits rows into cells so that no row is tested by a model that saw its
// source, its speaker, or for a synthetic row its system or any of its [Row.Family].
// The units of [Units] are dealt to folds, and the families to parts. A cell tests
// the rows of one fold, the synthetic ones only of one part; it trains on what
// shares neither source nor speaker with the fold and is not of that part. A
// synthetic row is in one cell and any other in the cells of all parts.
func Crossed(rows []Row, folds, parts int, seed uint64) []Cell {
	var spoofs []int
	var families []string
	for i := range rows {
		if rows[i].Positive {
			spoofs, families = append(spoofs, i), append(families, rows[i].Family())
		}
	}
	in := make([]int, len(rows)) // the part of a synthetic row
	dealt := stats.Folds(families, parts, seed)
	for p, f := range dealt {
		for _, k := range f.Test {
			in[spoofs[k]] = p
		}
	}
	names := make([]string, len(dealt))
	return cross(rows, folds, seed, names, func(r int, part int) bool { return in[r] == part })
}

// ByKind splits rows into cells as [Crossed] does, with the kinds of synthesis in
// place of the parts: a model that is tested on a kind has not seen it.
func ByKind(rows []Row, folds int, seed uint64) []Cell {
	var kinds []string
	for i := range rows {
		if rows[i].Positive && !slices.Contains(kinds, rows[i].Kind) {
			kinds = append(kinds, rows[i].Kind)
		}
	}
	slices.Sort(kinds)
	return cross(rows, folds, seed, kinds, func(r, part int) bool { return rows[r].Kind == kinds[part] })
}

// cross makes a cell of each fold of sources and each part of the synthetic rows
// that has synthetic rows in the fold.
func cross(rows []Row, folds int, seed uint64, parts []string, of func(row, part int) bool) []Cell {
	var cells []Cell
	for _, f := range stats.Folds(Units(rows), folds, seed) {
		alone := apartBy(rows, f, "source", "speaker")
		for p, name := range parts {
			c := Cell{Name: name}
			found := false
			for _, i := range f.Test {
				if !rows[i].Positive || of(i, p) {
					c.Test = append(c.Test, i)
					found = found || rows[i].Positive
				}
			}
			for _, i := range alone {
				if !rows[i].Positive || !of(i, p) {
					c.Train = append(c.Train, i)
				}
			}
			if found {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// Since splits rows at a year: a model that saw no system of that year or later is
// tested on those. What a common speaker says (see [Units]) is not tested. Tested
// besides are the recordings of people on the pages of those systems, and those of
// half of the other sources; sources and speakers of what is tested are not trained
// on. Systems of unknown year are in neither.
func Since(rows []Row, year int, seed uint64) Cell {
	units := Units(rows)
	common := func(i int) bool { return units[i] != rows[i].dealtBy() }
	pages := map[string]bool{}
	for i := range rows {
		if rows[i].Positive && rows[i].Year() >= year && !common(i) {
			pages[units[i]] = true
		}
	}
	half := map[int]bool{}
	for _, i := range stats.Folds(units, 2, seed)[0].Test {
		half[i] = true
	}
	var f stats.Fold
	for i := range rows {
		switch positive := rows[i].Positive; {
		case positive && rows[i].Year() >= year && !common(i), !positive && !common(i) && (pages[units[i]] || half[i]):
			f.Test = append(f.Test, i)
		case !positive || rows[i].Year() > 0 && rows[i].Year() < year:
			f.Train = append(f.Train, i)
		}
	}
	f.Train = apartBy(rows, f, "source", "speaker", "system")
	return Cell{Fold: f}
}
