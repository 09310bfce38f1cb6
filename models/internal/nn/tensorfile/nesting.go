package tensorfile

import (
	"fmt"
	"slices"
	"strings"
)

// What programs that train put around a state dict: it is the value of one of these keys of
// a dictionary, beside the state of the optimiser and numbers about the training; and each
// of its keys begins with parallelPrefix where the network was trained on several devices
// (torch.nn.DataParallel).
var nestingKeys = []string{"model", "state_dict", "model_state_dict"}

const parallelPrefix = "module."

// maxNesting is how many dictionaries may be around a state dict. Chosen.
const maxNesting = 3

// stateDict returns the state dict in the dictionary of a pickle: the dictionary itself if
// it has a tensor, otherwise that under one of nestingKeys. Other values beside it are
// ignored. It changes d. The error wraps ErrCheckpoint if two keys could be meant.
func stateDict(d *dict) (*dict, error) {
	for range maxNesting {
		var found *dict
		for i, v := range d.values {
			if _, ok := v.(*record); ok {
				return withoutPrefix(d), nil
			}
			name, _ := d.keys[i].(string)
			inner, ok := v.(*dict)
			if !ok || !slices.Contains(nestingKeys, name) {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("%w: several of %q hold dictionaries", ErrCheckpoint, nestingKeys)
			}
			found = inner
		}
		if found == nil {
			break
		}
		d = found
	}
	return withoutPrefix(d), nil
}

// withoutPrefix removes parallelPrefix from the keys of d if all begin with it.
func withoutPrefix(d *dict) *dict {
	for _, k := range d.keys {
		if name, ok := k.(string); !ok || !strings.HasPrefix(name, parallelPrefix) {
			return d
		}
	}
	for i, k := range d.keys {
		d.keys[i] = strings.TrimPrefix(k.(string), parallelPrefix)
	}
	return d
}
