package command

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
)

func TestInOrder(t *testing.T) {
	const n = 200
	var got []int
	newWork := func() func(int) int {
		return func(i int) int {
			for range (i * 7919) % 13 { // later pieces are often done first
				runtime.Gosched()
			}
			return i * i
		}
	}
	err := InOrder(t.Context(), n, newWork, func(i, v int) error {
		if v != i*i {
			t.Errorf("piece %d: got %d, want %d", i, v, i*i)
		}
		got = append(got, i)
		return nil
	})
	if err != nil || len(got) != n || !slices.IsSorted(got) {
		t.Errorf("got %v, %d pieces, want %d in order", err, len(got), n)
	}
}

func TestInOrderEnds(t *testing.T) {
	newWork := func() func(int) int { return func(i int) int { return i } }
	if err := InOrder(t.Context(), 0, newWork, func(int, int) error { return nil }); err != nil {
		t.Errorf("no work: %v", err)
	}
	broken := errors.New("no room on the disk")
	err := InOrder(t.Context(), 100, newWork, func(i, _ int) error {
		if i == 3 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = InOrder(ctx, 1<<30, newWork, func(i, _ int) error {
		if i == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// What was computed when the context ended may be a mere report of that: it is not
// emitted, and an interrupt is reported once.
func TestInOrderEmitsNothingAfterTheEndOfTheContext(t *testing.T) {
	for range 100 { // the order of two goroutines is random
		ctx, cancel := context.WithCancel(t.Context())
		work := func() func(int) error {
			return func(i int) error {
				if i == 2 {
					cancel()
				}
				return ctx.Err()
			}
		}
		err := InOrder(ctx, 8, work, func(i int, v error) error {
			if v != nil {
				t.Errorf("result %d: emitted %v", i, v)
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
	}
}
