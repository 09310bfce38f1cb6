package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestShortPlan carries out a plan of a few seconds. Its limits are loose: memory still grows
// in so short a time, and other tests slow calls down.
func TestShortPlan(t *testing.T) {
	var out bytes.Buffer
	p := plan{
		dir: t.TempDir(), measure: 300 * time.Millisecond, steady: 1200 * time.Millisecond, overload: 400 * time.Millisecond, rest: 500 * time.Millisecond,
		every: 100 * time.Millisecond, growth: 2, seconds: 31, slack: 100,
	}
	if err := p.run(t.Context(), &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestLeaksAreDetected checks outcome.level with a leak of each kind, and without one.
func TestLeaksAreDetected(t *testing.T) {
	for name, leak := range map[string]func(i int, s *sample){
		"memory":     func(i int, s *sample) { s.memory += float64(i) * 5e6 },
		"goroutines": func(i int, s *sample) { s.goroutines += float64(i) * 10 },
		"database":   func(i int, s *sample) { s.database += float64(i) * 1e6 },
	} {
		var o outcome
		for i := range 30 {
			s := sample{memory: 100 << 20, goroutines: 50, database: 5 << 20}
			leak(i, &s)
			o.samples = append(o.samples, s)
		}
		if err := o.level(0.1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var o outcome
	for range 30 {
		o.samples = append(o.samples, sample{memory: 100 << 20, goroutines: 50, database: 5 << 20})
	}
	if err := o.level(0.1); err != nil {
		t.Errorf("nothing grew: got %v", err)
	}
}

// TestCheck checks that each violated condition makes the plan fail.
func TestCheck(t *testing.T) {
	good := func() *outcome {
		o := newOutcome(1)
		o.ended = 3
		o.count("submit", 202, "", time.Millisecond)
		for range 9 {
			o.samples = append(o.samples, sample{})
		}
		return o
	}
	for name, c := range map[string]struct {
		change func(before, over, after *outcome) (left int)
		bad    bool
	}{
		"all is well":               {func(before, over, after *outcome) int { return 0 }, false},
		"refusals under overload":   {func(before, over, after *outcome) int { over.count("submit", 503, "", 0); return 0 }, false},
		"a refusal at 80 %":         {func(before, over, after *outcome) int { before.count("submit", 503, "", 0); return 0 }, true},
		"an error under overload":   {func(before, over, after *outcome) int { over.count("submit", 500, "", 0); return 0 }, true},
		"a broken connection":       {func(before, over, after *outcome) int { over.count("result", 0, "EOF", 0); return 0 }, true},
		"an accepted session lost":  {func(before, over, after *outcome) int { over.unfinished++; return 0 }, true},
		"nothing done":              {func(before, over, after *outcome) int { over.ended = 0; return 0 }, true},
		"slow afterwards":           {func(before, over, after *outcome) int { after.took["submit"] = []time.Duration{time.Second}; return 0 }, true},
		"an audio file left behind": {func(before, over, after *outcome) int { return 1 }, true},
	} {
		before, over, after := good(), good(), good()
		left := c.change(before, over, after)
		if err := (&plan{growth: 0.1, slack: 3}).check(before, over, after, left); (err != nil) != c.bad {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
