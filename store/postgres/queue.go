package postgres

import (
	"sync"
	"time"
)

const (
	// slack is how much earlier than the last that was taken a session may become
	// due and be seen at once. Chosen: replicas commit in another order than they
	// read the clock, but seldom seconds later.
	slack = 5 * time.Second
	// fullEvery is how often a search goes through the whole queue. Chosen: what
	// another process put far into the past is found within that time.
	fullEvery = time.Second
)

// queue notes a time below which nothing in a queue is due any more. Rows that
// have left a queue stay in its index as long as any old transaction of the
// server might see them, and each search from the beginning would go through all
// of them. It is a hint: a search goes through the whole queue every fullEvery.
// It is safe for concurrent use.
type queue struct {
	mu      sync.Mutex // protects what follows
	from    time.Time
	lowered uint64    // how often lower was called
	full    time.Time // when a search last went through all, by the machine's clock
}

// place is where a search of a queue begins.
type place struct {
	from    time.Time
	lowered uint64
}

// beginning is before all that can be due.
var beginning = place{from: time.Unix(0, 0)}

// begin returns where a search that starts now begins.
func (q *queue) begin() place {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); q.from.Before(beginning.from) || now.Sub(q.full) > fullEvery {
		q.full = now
		return place{beginning.from, q.lowered}
	}
	return place{q.from, q.lowered}
}

// took notes that a search found what was due then, and nothing before it.
func (q *queue) took(due time.Time, p place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if from := due.Add(-slack); q.lowered == p.lowered && from.After(q.from) {
		q.from = from
	}
}

// lower notes that something is due, unless due is zero.
func (q *queue) lower(due time.Time) {
	if due.IsZero() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if due.Before(q.from) {
		q.from = due
		q.lowered++
	}
}
