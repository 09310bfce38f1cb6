package dam

import (
	"sync"
	"sync/atomic"

	"github.com/voicescreen/voicescreen/models/dam/internal/gemm"
)

// task is a step of the network in parts that may be done at the same time. The
// result of a part does not depend on who does it.
type task interface {
	part(i int, w *worker)
}

// worker is one of the goroutines of a crew, with the scratch of its own.
type worker struct {
	gemm   gemm.Scratch
	scores []float32 // of queryRows queries with all keys
	sums   [queryRows]float32
}

// crew does the parts of one task after the other on several goroutines, the
// caller's among them. It is used by one goroutine at a time.
type crew struct {
	workers []worker
	loops   []func()        // of the workers but the first
	start   []chan struct{} // one signal for each task; shared by nobody else
	ready   sync.WaitGroup  // counts workers that have not finished the task

	// The task, which changes only between ready and start.
	task  task
	parts int
	next  atomic.Int64
}

func newCrew(size, keys int) *crew {
	c := &crew{workers: make([]worker, size), start: make([]chan struct{}, size)}
	for i := range c.workers {
		c.workers[i].scores = make([]float32, queryRows*keys)
		c.start[i] = make(chan struct{}, 1)
		if i > 0 {
			c.loops = append(c.loops, func() {
				for range c.start[i] {
					if c.task == nil {
						c.ready.Done()
						return
					}
					c.work(&c.workers[i])
					c.ready.Done()
				}
			})
		}
	}
	return c
}

// begin starts the goroutines, end stops them and waits for them.
func (c *crew) begin() {
	for _, loop := range c.loops {
		go loop()
	}
}

func (c *crew) end() {
	c.task = nil
	c.signal(len(c.workers))
	c.ready.Wait()
}

// signal wakes the first n workers but the caller's.
func (c *crew) signal(n int) {
	c.ready.Add(n - 1)
	for _, start := range c.start[1:n] {
		start <- struct{}{}
	}
}

// run does all parts of t, of which there is at least one, and returns when
// they are done.
func (c *crew) run(t task, parts int) {
	c.task, c.parts = t, parts
	c.next.Store(0)
	c.signal(min(len(c.workers), parts))
	c.work(&c.workers[0])
	c.ready.Wait()
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
