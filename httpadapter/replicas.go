package httpadapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
)

const (
	// ReplicasDocument is the name of the store's document of live replicas. It says nothing
	// that a copy of the store needs.
	ReplicasDocument = "replicas"

	// beatEvery is how often a replica says that it is live. Chosen: a change of their
	// number counts within seconds, at a third of a write a second for each.
	beatEvery = 3 * time.Second

	// missedBeats is how many beats may be missing of a live replica. Chosen: a pause
	// of a busy machine is shorter.
	missedBeats = 4

	// maxReplicas bounds the document. Chosen: far more than anybody runs.
	maxReplicas = 10_000
)

// beats counts the beats of each replica, by its random name. It is never changed.
type beats map[string]uint64

var beatsFormat = durable.Format[beats]{
	Parse: func(data []byte) (beats, error) {
		var b beats
		if err := durable.DecodeJSON(data, &b); err != nil {
			return nil, err
		}
		if len(b) > maxReplicas {
			return nil, errors.New("there are too many replicas")
		}
		return b, nil
	},
	Text:     func(b beats) ([]byte, error) { return json.Marshal(b) },
	MaxBytes: 64 * maxReplicas,
}

// Replicas counts the servers that share a store, for RateLimit.Replicas. Each server
// counts up a number of its own in a document, and another one is live while its number
// changes: no clock is compared with another one's. It is safe for concurrent use.
type Replicas struct {
	doc  *document.Document[beats]
	name string

	mu   sync.Mutex // protects what follows
	peer map[string]*peer
	n    int // live ones, this one included
}

// peer is what a replica knows of another one.
type peer struct {
	beat   uint64
	missed int // own beats since it changed
}

// StoredReplicas returns the replicas of a store, this server among them. The store must
// stay open until Run has returned.
func StoredReplicas(ctx context.Context, st store.Store) (*Replicas, error) {
	d, err := document.Open(ctx, st, ReplicasDocument, nil, beatsFormat)
	if err != nil {
		return nil, fmt.Errorf("httpadapter: replicas: %w", err)
	}
	r := &Replicas{doc: d, name: rand.Text(), peer: map[string]*peer{}, n: 1}
	if err := r.beat(); err != nil {
		return nil, fmt.Errorf("httpadapter: replicas: %w", err)
	}
	return r, nil
}

// Run keeps the number current until ctx is done, and then signs this server off. While
// the store does not answer the number stays.
func (r *Replicas) Run(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = r.change(func(b beats) { delete(b, r.name) }) // the others find out otherwise
			return
		case <-tick.C:
			_ = r.beat() // the calls of clients have the error
		}
	}
}

// Count returns how many servers are live, at least 1.
func (r *Replicas) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// beat counts this server up, removes dead ones, and counts the live ones.
func (r *Replicas) beat() error {
	var seen beats
	err := r.change(func(b beats) {
		r.mu.Lock()
		for name, p := range r.peer {
			if p.missed > missedBeats && b[name] == p.beat {
				delete(b, name)
			}
		}
		r.mu.Unlock()
		b[r.name]++
		seen = b
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.peer {
		if _, there := seen[name]; !there {
			delete(r.peer, name)
		}
	}
	r.n = 1
	for name, beat := range seen {
		if name == r.name {
			continue
		}
		p := r.peer[name]
		if p == nil {
			p = &peer{beat: beat}
			r.peer[name] = p
		}
		p.missed++
		if p.beat != beat {
			p.beat, p.missed = beat, 0
		}
		if p.missed <= missedBeats {
			r.n++
		}
	}
	return nil
}

// change replaces the document by what f makes of a copy.
func (r *Replicas) change(f func(beats)) error {
	return r.doc.Change(func(before beats) (beats, error) {
		after := make(beats, len(before)+1)
		for name, beat := range before {
			after[name] = beat
		}
		f(after)
		return after, nil
	})
}
