// Command soak loads a service for a long time and checks that it keeps its promises:
//
//	go run ./internal/proof/soak -for 10m -overload 60s
//
// The command creates a store in a temporary directory, an engine and the HTTP service as
// "voicescreen serve" does, and calls the service over the loopback interface. First it
// measures its capacity: how many flows (initiate, submit, wait for the result, feedback,
// listing, deletion) it completes in a second. Then it loads the service with 80 % of the
// capacity for the time -for, at random times, and samples memory, goroutines and the size
// of the database; then with ten times the capacity for the time -overload; then with 80 %
// again. The exit code is 1 unless
//
//   - no call failed at 80 %,
//   - memory, goroutines and the database reached a level: their medians in the last third
//     of the time exceed those in the second third by no more than the share -growth, or by
//     no more than 16 MiB, 20 goroutines and 1 MiB,
//   - under overload every response was 2xx, 429 or 503, and some flows completed,
//   - every accepted session completed,
//   - ten seconds after the overload the median duration of a submission is at most three
//     times that before, or 3 ms if that is more,
//   - no audio is left at the end.
//
// The load comes from the same process, so its memory and goroutines are included, and less
// of the processor is left for the service.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// plan is the duration of each phase, and the limits for the result.
type plan struct {
	dir      string        // directory of the store
	measure  time.Duration // of the measurement of the capacity
	steady   time.Duration // at 80 % of the capacity
	overload time.Duration // at ten times the capacity
	rest     time.Duration // after the overload
	every    time.Duration // between samples
	growth   float64       // allowed growth of a measure, as a share
	seconds  float64       // length of a recording
	slack    float64       // allowed ratio of the duration of submissions after the overload to that before
}

func main() {
	p := plan{measure: 10 * time.Second, rest: 10 * time.Second, every: 2 * time.Second, slack: 3}
	flag.DurationVar(&p.steady, "for", 10*time.Minute, "time at 80 % of capacity")
	flag.DurationVar(&p.overload, "overload", time.Minute, "time at ten times the capacity")
	flag.Float64Var(&p.growth, "growth", 0.10, "allowed growth of memory, goroutines and database from the second third of the time to the last, as a share")
	flag.Float64Var(&p.seconds, "seconds", 35, "length of each recording")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "voicescreen-soak-")
	if err == nil {
		p.dir = dir
		err = p.run(ctx, os.Stdout)
		os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run carries out the plan and prints the results. The error names a condition that was not
// met.
func (p *plan) run(ctx context.Context, out io.Writer) error {
	s, err := newService(filepath.Join(p.dir, "soak.db"), p.seconds)
	if err != nil {
		return err
	}
	defer s.close()
	capacity, err := s.capacity(ctx, p.measure)
	if err != nil {
		return err
	}
	rate := 0.8 * capacity
	fmt.Fprintf(out, "capacity  %.1f flows/s\n", capacity)

	before := s.drive(ctx, rate, p.steady, p.every)
	before.print(out, "steady")
	over := s.drive(ctx, 10*capacity, p.overload, p.every)
	over.print(out, "overload")
	if err := s.recover(ctx, p.rest); err != nil {
		return err
	}
	after := s.drive(ctx, rate, min(p.steady, 20*time.Second), p.every)
	after.print(out, "after")
	left, err := s.audioLeft()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "audio     %d files left\n", left)
	return p.check(before, over, after, left)
}

// check returns an error that names the first condition that was not met.
func (p *plan) check(before, over, after *outcome, left int) error {
	switch {
	case before.failed() > 0 || before.unfinished > 0:
		return fmt.Errorf("at 80 %% of capacity %d calls failed, %d sessions did not complete", before.failed(), before.unfinished)
	case over.unexpected() > 0 || over.unfinished > 0:
		return fmt.Errorf("under overload %d responses were not 2xx, 429 or 503, %d accepted sessions did not complete", over.unexpected(), over.unfinished)
	case over.ended == 0:
		return fmt.Errorf("under overload no flow completed")
	case after.failed() > 0 || after.unfinished > 0:
		return fmt.Errorf("after the overload %d calls failed, %d sessions did not complete", after.failed(), after.unfinished)
	case float64(after.median("submit")) > p.slack*float64(max(before.median("submit"), time.Millisecond)):
		return fmt.Errorf("after the overload a submission takes %v, before %v", after.median("submit"), before.median("submit"))
	case left > 0:
		return fmt.Errorf("%d audio files are left", left)
	}
	return before.level(p.growth)
}
