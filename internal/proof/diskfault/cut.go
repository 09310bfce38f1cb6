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

// EnvCuts is the environment variable for the number of power failures in tests.
const EnvCuts = "VOICESCREEN_TEST_CUTS"

// NumCuts returns the number in EnvCuts, or n if it is not set.
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

// Cut is a power failure in a recording.
type Cut struct {
	After int    // number of steps before it
	Seed  uint64 // determines what survives of what is not durable
}

// Cuts returns n power failures at random points of a recording, in order. A fifth of them
// lie within the first early steps, in which files are created.
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

// FailAt simulates a power failure at each of the cuts, which must be in order, until check
// returns false. Check receives the output of the programs so far, and a directory with the
// content that a disk may have after the failure. FailAt creates that directory below dir
// and removes it after check.
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
		next := check(c, said.String(), to)
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("diskfault: %w", err)
		}
		if !next {
			return nil
		}
	}
	return nil
}

// Losses simulates power failures as FailAt does, and returns the errors of holds, at most
// enough of them.
func Losses(steps []Step, cuts []Cut, dir string, enough int, holds func(c Cut, said, disk string) error) (losses []error, err error) {
	err = FailAt(steps, cuts, dir, func(c Cut, said, disk string) bool {
		if err := holds(c, said, disk); err != nil {
			losses = append(losses, fmt.Errorf("the power fails after step %d of %d, seed %d: %w", c.After, len(steps), c.Seed, err))
		}
		return len(losses) < enough
	})
	return losses, err
}

// Said returns the standard output of the programs in a recording.
func Said(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Call.Kind == Say {
			b.Write(s.Call.Data)
		}
	}
	return b.String()
}

// WithoutSyncs returns a recording without the syncs of files whose name at that time
// matches the pattern (filepath.Match), as if the program had not made them.
func WithoutSyncs(steps []Step, pattern string) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool {
		match, err := filepath.Match(pattern, s.Call.Name)
		return s.Call.Kind == Sync && match && err == nil
	})
}
