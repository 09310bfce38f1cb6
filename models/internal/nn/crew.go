package nn

import (
	"sync"
	"sync/atomic"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

// task is a step of the network in parts that may run at the same time. The
// result of a part does not depend on the worker.
type task interface {
	part(i int, w *worker)
}

// worker is the scratch of one goroutine of a crew.
type worker struct {
	gemm   gemm.Scratch
	scores []float32 // of queryRows queries with all keys
	sums   [queryRows]float32
}

// crew runs tasks one after the other, each on several goroutines. One
// goroutine at a time may use it.
type crew struct {
	workers []worker
	loops   []func() // of all workers but the first, made once: go then allocates nothing
	running sync.WaitGroup

	// The task, which changes only while no loop is running.
	task  task
	parts int
	next  atomic.Int64
}

func newCrew(size, keys int) *crew {
	c := &crew{workers: make([]worker, size)}
	for i := range c.workers {
		w := &c.workers[i]
		w.scores = make([]float32, queryRows*keys)
		if i > 0 {
			c.loops = append(c.loops, func() {
				defer c.running.Done()
				c.work(w)
			})
		}
	}
	return c
}

// run runs all parts of t, at least one, and returns after the last. The
// goroutine of the caller is one of the workers.
func (c *crew) run(t task, parts int) {
	c.task, c.parts = t, parts
	c.next.Store(0)
	others := c.loops[:min(len(c.workers), parts)-1]
	c.running.Add(len(others))
	for _, loop := range others {
		go loop()
	}
	c.work(&c.workers[0])
	c.running.Wait()
}

func (c *crew) work(w *worker) {
	for {
		i := int(c.next.Add(1)) - 1
		if i >= c.parts {
			return
		}
		c.task.part(i, w)
	}
}
