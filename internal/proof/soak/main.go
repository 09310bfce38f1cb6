// Command soak drives a service for a long time and says whether it holds:
//
//	go run ./internal/proof/soak -for 10m -overload 60s
//
// It makes a store in a temporary folder, an engine and the HTTP service on it
// as "voicescreen serve" does, and calls it over the loopback interface. First
// it measures how many whole flows (initiate, submit, wait for the result,
// feedback, listing, deletion) the machine does in a second. Then it brings 80 %
// of that for as long as it is told, at random moments, and watches memory,
// goroutines and the database; then ten times that; then 80 % again. It ends
// with code 1 unless
//
//   - no call failed at 80 %,
//   - memory, goroutines and the database levelled off: what they were in the
//     last third of the time is within -growth of what they were in the second,
//     or above it by no more than 16 MiB, 20 goroutines and 1 MiB,
//   - under overload every answer was 2xx, 429 or 503, and flows came to their end,
//   - everything that was accepted came to its end,
//   - ten seconds after the overload the median submission takes at most three
//     times as long as before it, or 3 ms if that is more,
//   - no audio is left at the end.
//
// The load comes from the same process, which leaves less for the service; its
// own goroutines are counted, and are as many before as after.
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

// plan is how long each part takes, and what is held against the result.
type plan struct {
	dir      string        // of the store
	measure  time.Duration // of the capacity
	steady   time.Duration // at 80 %
	overload time.Duration // at ten times
	rest     time.Duration // after it
	every    time.Duration // between samples
	growth   float64       // that a level may have
	seconds  float64       // of speech in a recording
	slack    float64       // by how much calls may take longer after the overload than before
}

func main() {
	p := plan{measure: 10 * time.Second, rest: 10 * time.Second, every: 2 * time.Second, slack: 3}
	flag.DurationVar(&p.steady, "for", 10*time.Minute, "time at 80 % of capacity")
	flag.DurationVar(&p.overload, "overload", time.Minute, "time at ten times the capacity")
	flag.Float64Var(&p.growth, "growth", 0.10, "growth from the second third of the time to the last that still counts as level")
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

// run does the whole plan and prints what it sees. An error says what did not
// hold.
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
	return p.judge(before, over, after, left)
}

// judge says what did not hold.
func (p *plan) judge(before, over, after *outcome, left int) error {
	switch {
	case before.failed() > 0 || before.unfinished > 0:
		return fmt.Errorf("at 80 %% of capacity %d calls failed, %d sessions did not end", before.failed(), before.unfinished)
	case over.unexpected() > 0 || over.unfinished > 0:
		return fmt.Errorf("under overload %d answers were neither accepted nor refused, %d accepted sessions did not end", over.unexpected(), over.unfinished)
	case over.ended == 0:
		return fmt.Errorf("under overload nothing was done")
	case after.failed() > 0 || after.unfinished > 0:
		return fmt.Errorf("after the overload %d calls failed, %d sessions did not end", after.failed(), after.unfinished)
	case float64(after.median("submit")) > p.slack*float64(max(before.median("submit"), time.Millisecond)):
		return fmt.Errorf("after the overload a submission takes %v, before %v", after.median("submit"), before.median("submit"))
	case left > 0:
		return fmt.Errorf("%d audio files are left", left)
	}
	return before.level(p.growth)
}
