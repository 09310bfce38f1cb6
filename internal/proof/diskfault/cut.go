package diskfault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// EnvCuts says in the environment at how many points tests let the power fail.
const EnvCuts = "VOICESCREEN_TEST_CUTS"

// NumCuts returns what EnvCuts says, and n if it says nothing.
func NumCuts(n int) (int, error) {
	s := os.Getenv(EnvCuts)
	if s == "" {
		return n, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("diskfault: %s is %q, want a number of points", EnvCuts, s)
	}
	return n, nil
}

// Cut is a point at which the power fails, and the seed of what survives.
type Cut struct {
	After int // steps
	Seed  uint64
}

// Cuts returns n points in a recording, in order, a fifth of them within the
// first early steps, in which files are made.
func Cuts(steps []Step, n, early int, seed uint64) []Cut {
	rnd := rand.New(rand.NewPCG(seed, 0))
	list := make([]Cut, n)
	for i := range list {
		list[i] = Cut{rnd.IntN(len(steps) + 1), rnd.Uint64()}
		if i%5 == 0 {
			list[i].After = rnd.IntN(min(early, len(steps)))
		}
	}
	slices.SortFunc(list, func(a, b Cut) int { return cmp.Compare(a.After, b.After) })
	return list
}

// FailAt lets the power fail at each of the cuts, which are in order, until
// check returns false. Check is given what programs had said until then and a
// directory below dir with what the disk may hold, which is removed afterwards.
func FailAt(steps []Step, cuts []Cut, dir string, check func(c Cut, said, disk string) bool) error {
	disk, at := NewDisk(), 0
	var said strings.Builder
	for _, c := range cuts {
		for ; at < c.After; at++ {
			disk.Apply(steps[at])
			if call := steps[at].Call; call.Kind == Say {
				said.Write(call.Data)
			}
		}
		to, err := os.MkdirTemp(dir, "disk-")
		if err != nil {
			return fmt.Errorf("diskfault: %w", err)
		}
		if err := disk.Fail(to, rand.New(rand.NewPCG(c.Seed, 0))); err != nil {
			return err
		}
		on := check(c, said.String(), to)
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("diskfault: %w", err)
		}
		if !on {
			return nil
		}
	}
	return nil
}

// Losses lets the power fail at each of the cuts, as FailAt does, and returns
// what holds says is wrong then, up to enough.
func Losses(steps []Step, cuts []Cut, dir string, enough int, holds func(c Cut, said, disk string) error) (losses []error, err error) {
	err = FailAt(steps, cuts, dir, func(c Cut, said, disk string) bool {
		if err := holds(c, said, disk); err != nil {
			losses = append(losses, fmt.Errorf("the power fails after step %d of %d, seed %d: %w", c.After, len(steps), c.Seed, err))
		}
		return len(losses) < enough
	})
	return losses, err
}

// Said returns all that the programs of a recording said.
func Said(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Call.Kind == Say {
			b.Write(s.Call.Data)
		}
	}
	return b.String()
}

// WithoutSyncs returns a recording without the syncs of files that had a name
// then that matches the pattern of filepath.Match, as if the program did not
// make them.
func WithoutSyncs(steps []Step, pattern string) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool {
		match, err := filepath.Match(pattern, s.Call.Name)
		return s.Call.Kind == Sync && match && err == nil
	})
}
