package stats

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// A Fold is one round of cross-validation, by indices.
type Fold struct{ Train, Test []int }

// Folds splits what belongs to the given groups into at most k folds, and into
// as many as there are groups if these are fewer. Groups are dealt out whole,
// the largest first to the fold that has the fewest members, in an order that the
// seed shuffles among equals. Each index is in exactly one test set, and a
// training set has all indices that its test set does not have. Both are
// ascending.
func Folds(group []string, k int, seed uint64) []Fold {
	members := map[string][]int{}
	for i, g := range group {
		members[g] = append(members[g], i)
	}
	groups := slices.Sorted(maps.Keys(members))
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	slices.SortStableFunc(groups, func(a, b string) int { return len(members[b]) - len(members[a]) })

	folds := make([]Fold, min(k, len(groups)))
	in := make([]int, len(group)) // the fold that tests each
	for _, g := range groups {
		least := 0
		for f := range folds {
			if len(folds[f].Test) < len(folds[least].Test) {
				least = f
			}
		}
		folds[least].Test = append(folds[least].Test, members[g]...)
		for _, i := range members[g] {
			in[i] = least
		}
	}
	for f := range folds {
		slices.Sort(folds[f].Test)
		for i := range group {
			if in[i] != f {
				folds[f].Train = append(folds[f].Train, i)
			}
		}
	}
	return folds
}
