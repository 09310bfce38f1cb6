package stats

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// A Fold is one round of cross-validation: the indices of its training and test sets.
type Fold struct{ Train, Test []int }

// Folds splits the indices of group, which gives the group of each index, into k folds,
// or one for each group if there are fewer than k. A group is never divided. The largest
// group first, each goes to the fold with the smallest test set; the seed shuffles groups
// of equal size. Each index is in exactly one test set, and in the training sets of all
// other folds. Both are ascending.
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
	in := make([]int, len(group)) // by index: the fold that tests it
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
