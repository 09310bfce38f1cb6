package command

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// InOrder runs n tasks on all processors and calls emit with their results in order, so
// that the output does not depend on timing. Each worker makes its work function with
// newWork; the function may keep scratch memory. After an error of emit no more tasks
// start, and InOrder returns that error. When ctx is done emit is not called again, and
// InOrder returns ctx's error.
func InOrder[T any](ctx context.Context, n int, newWork func() func(i int) T, emit func(i int, v T) error) error {
	whole := ctx
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	type result struct {
		i int
		v T
	}
	results := make(chan result)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			work := newWork()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				r := result{i, work(i)}
				select {
				case results <- r:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(results)
	}()
	defer func() {
		cancel()
		for range results { // drains the channel until the workers have ended
		}
	}()
	waiting := map[int]T{}
	for done := 0; done < n; {
		r, ok := <-results
		if !ok {
			return ctx.Err()
		}
		waiting[r.i] = r.v
		for v, ok := waiting[done]; ok; v, ok = waiting[done] {
			if err := whole.Err(); err != nil {
				return err // v may hold it as its own fault
			}
			if err := emit(done, v); err != nil {
				return err
			}
			delete(waiting, done)
			done++
		}
	}
	return nil
}
