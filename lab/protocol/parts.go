package protocol

import (
	"fmt"
	"maps"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// part is folds whose test sessions are measured together.
type part struct {
	name  string
	folds []stats.Fold
}

// parts says what is trained and tested on what.
func (p *protocol) parts() []part {
	by, folds := map[string][]int{}, map[int][]int{}
	for i, t := range p.trials {
		by[t.Split] = append(by[t.Split], i)
		folds[t.Fold] = append(folds[t.Fold], i)
	}
	if train := by["train"]; train != nil && len(by) > 1 {
		var out []part
		for _, name := range []string{"dev", "test"} {
			if by[name] != nil {
				out = append(out, part{name, []stats.Fold{{Train: train, Test: by[name]}}})
			}
		}
		return out
	}
	if len(folds) > 1 && folds[0] == nil {
		own := part{name: fmt.Sprintf("the corpus's %d folds", len(folds))}
		for f := 1; f <= slices.Max(slices.Collect(maps.Keys(folds))); f++ {
			if folds[f] != nil {
				own.folds = append(own.folds, stats.Fold{Train: p.without(folds[f]), Test: folds[f]})
			}
		}
		return []part{own}
	}
	speakers := make([]string, len(p.trials))
	for i, t := range p.trials {
		speakers[i] = t.Speaker
	}
	dealt := stats.Folds(speakers, protocolFolds, p.seed)
	return []part{{fmt.Sprintf("%d folds by speaker", len(dealt)), dealt}}
}

// without returns every session but those and others of their speakers.
func (p *protocol) without(test []int) []int {
	speakers := map[string]bool{}
	for _, i := range test {
		speakers[p.trials[i].Speaker] = true
	}
	var rest []int
	for i, t := range p.trials {
		if !speakers[t.Speaker] {
			rest = append(rest, i)
		}
	}
	return rest
}
