//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowd is many clients of a fleet. Each makes a session, submits a recording and asks
// again wherever it got no answer. It keeps a journal of what was acknowledged.
type crowd struct {
	key        string
	recordings [][]byte
	bases      []atomic.Pointer[string] // the address of each replica
	http       *http.Client

	mu           sync.Mutex     // protects what follows
	acknowledged []string       // sessions whose submission was, by a 202
	statuses     map[string]int // how many answers of each kind there were
	faults       []string
}

// crowdSize is how many clients call at once. Chosen: 20 submissions a second that take
// three seconds each on a machine busy with other work.
const crowdSize = 64

func newCrowd(t testing.TB, key string, replicas int) *crowd {
	speech := read(t, short)
	c := &crowd{
		key: key, recordings: [][]byte{clip(speech, 0.5), clip(speech, 3.5)}, // a failure and a result
		bases: make([]atomic.Pointer[string], replicas), statuses: map[string]int{},
		http: &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: crowdSize}},
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func (c *crowd) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// count counts an answer.
func (c *crowd) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statuses[what]++
}

func (c *crowd) counted(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[what]
}

// drive begins clients at a rate a second until ctx ends, and waits until each has its
// acknowledgement, or for patience.
func (c *crowd) drive(ctx context.Context, rate int, patience time.Duration) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var all sync.WaitGroup
	slots := make(chan struct{}, crowdSize)
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			select {
			case slots <- struct{}{}:
				all.Go(func() { defer func() { <-slots }(); c.visit(late) })
			default: // all clients wait for an answer
			}
		}
	}
	time.AfterFunc(patience, cancel)
	all.Wait()
}

// visit is one client.
func (c *crowd) visit(ctx context.Context) {
	o, ok := c.persist(ctx, "initiate", http.StatusCreated, "/initiate", form, []byte("is_initiated=true&user_id=patient-31"))
	if !ok {
		return
	}
	id, _ := o["session_id"].(string)
	recording := c.recordings[rand.IntN(len(c.recordings))]
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	_ = m.WriteField("session_id", id) // a buffer takes all
	part, _ := m.CreateFormFile("file", "answer.wav")
	_, _ = part.Write(recording)
	_ = m.Close()
	if _, ok := c.persist(ctx, "submit", http.StatusAccepted, "/predict", m.FormDataContentType(), body.Bytes()); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.acknowledged = append(c.acknowledged, id)
	}
}

// persist makes a call until it is acknowledged. A call without an answer, or with a 503,
// may have been made: a submission that is then a conflict was.
func (c *crowd) persist(ctx context.Context, what string, want int, path, contentType string, body []byte) (answer object, ok bool) {
	unsure := false
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		res, o, err := c.call(ctx, "POST", *c.bases[rand.IntN(len(c.bases))].Load()+path, contentType, body)
		switch {
		case err != nil:
			unsure = true
			c.count(what + " without an answer")
			continue
		case res.StatusCode == want, res.StatusCode == http.StatusConflict && unsure:
			c.count(fmt.Sprint(what, " ", res.StatusCode))
			return o, true
		case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
			unsure = true
			c.count(what + " 503")
			continue
		}
		c.fault("%s: got status %d, want %d, or 503 with Retry-After: %v", what, res.StatusCode, want, o["message"])
		return o, false
	}
	return nil, false
}

func (c *crowd) call(ctx context.Context, method, address, contentType string, body []byte) (*http.Response, object, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("X-API-Key", c.key)
	req.Header.Set("Content-Type", contentType)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	var o object
	_ = json.Unmarshal(b, &o) // an answer without a body stays nil
	return res, o, nil
}

// results asks every replica for the result of each acknowledged submission. All must
// answer the same. It returns how many failed by an internal error.
func (c *crowd) results(ctx context.Context) (givenUp int) {
	c.mu.Lock()
	ids := c.acknowledged
	c.mu.Unlock()
	for _, id := range ids {
		first := ""
		for i := range c.bases {
			res, o, err := c.call(ctx, "GET", *c.bases[i].Load()+"/predict/sessions/"+id, "", nil)
			if err != nil {
				c.fault("session %s: %v", id, err)
				break
			}
			text := fmt.Sprint(res.StatusCode, o)
			switch failure, _ := o["predict_error"].(map[string]any); {
			case res.StatusCode == http.StatusNotFound:
				c.fault("session %s is lost", id)
			case failure["error"] == "audio_not_submitted":
				c.fault("session %s: its recording is lost", id)
			case o["status"] == "processing":
				c.fault("session %s has no result", id)
			case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusExpectationFailed:
				c.fault("session %s: got status %d", id, res.StatusCode)
			case i > 0 && text != first:
				c.fault("session %s: the replicas answer %s and %s", id, first, text)
			case i == 0 && failure["error"] == "internal_error":
				givenUp++
			}
			if i == 0 {
				first = text
			}
		}
	}
	return givenUp
}

// allFaults returns and clears what was noted.
func (c *crowd) allFaults() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.faults[:min(len(c.faults), 10)], "\n")
	if len(c.faults) > 10 {
		text += fmt.Sprintf("\nand %d more", len(c.faults)-10)
	}
	c.faults = nil
	return text
}
