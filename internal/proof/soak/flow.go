package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome counts the results of a phase of load. Count is safe for concurrent use.
type outcome struct {
	mu         sync.Mutex                 // protects all fields
	status     map[string]map[int]int     // number of responses by call and status
	took       map[string][]time.Duration // durations of successful calls
	errors     []string                   // the first unexpected responses
	samples    []sample
	started    int
	ended      int     // flows whose session completed
	unfinished int     // flows whose session was accepted and did not complete
	rate       float64 // flows a second wanted
}

func (o *outcome) count(call string, status int, answer string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.status[call] == nil {
		o.status[call] = map[int]int{}
	}
	o.status[call][status]++
	if status < 400 && status > 0 {
		o.took[call] = append(o.took[call], took)
	} else if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && len(o.errors) < 5 {
		o.errors = append(o.errors, fmt.Sprintf("%s: %d %s", call, status, answer))
	}
}

// flow makes the calls of one client, and counts them in o. It returns whether its session
// was accepted, and whether the session completed.
func (s *service) flow(ctx context.Context, o *outcome) (accepted, ended bool) {
	call := func(name, method, path, contentType string, body []byte) (int, string) {
		start := time.Now()
		status, answer := s.do(ctx, method, path, contentType, body)
		o.count(name, status, answer, time.Since(start))
		return status, answer
	}
	user := fmt.Sprintf("user-%d", rand.IntN(500))
	status, answer := call("initiate", "POST", "/v2/initiate", "application/json", []byte(`{"user_id":"`+user+`","is_initiated":true}`))
	var session struct {
		ID string `json:"session_id"`
	}
	if status >= 300 || json.Unmarshal([]byte(answer), &session) != nil || session.ID == "" {
		return false, false
	}
	defer call("delete", "DELETE", "/v2/sessions/"+session.ID, "", nil)
	contentType, body := s.form(session.ID)
	if status, _ = call("submit", "POST", "/v2/prediction/", contentType, body); status != http.StatusAccepted {
		return false, false
	}
	for {
		status, answer = call("result", "GET", "/v2/predict/sessions/"+session.ID, "", nil)
		if status == http.StatusOK && !strings.Contains(answer, `"processing"`) {
			break
		}
		if status != http.StatusOK && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return true, false
		}
		time.Sleep(50*time.Millisecond + time.Duration(rand.IntN(50))*time.Millisecond)
	}
	call("feedback", "PATCH", "/v2/feedback/phq/9", "application/json", []byte(`{"session_id":"`+session.ID+`","actual_score":[1,0,2,1,0,1,0,0,0]}`))
	call("list", "GET", "/v2/predict/users/"+user, "", nil)
	return true, true
}

func newOutcome(rate float64) *outcome {
	return &outcome{status: map[string]map[int]int{}, took: map[string][]time.Duration{}, rate: rate}
}

// capacity measures how many flows a second are completed by concurrent clients, each of
// which begins its next flow when one ends.
func (s *service) capacity(ctx context.Context, d time.Duration) (float64, error) {
	o := newOutcome(0)
	start := time.Now()
	var wg sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for time.Since(start) < d && ctx.Err() == nil {
				if _, ended := s.flow(ctx, o); ended {
					o.mu.Lock()
					o.ended++
					o.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if o.ended == 0 {
		return 0, fmt.Errorf("no flow completed: %s", strings.Join(o.errors, "; "))
	}
	return float64(o.ended) / time.Since(start).Seconds(), ctx.Err()
}

// maxFlows is the limit of concurrent flows. Further flows are dropped, as by a limited
// connection pool of a client. Chosen.
const maxFlows = 2000

// drive begins flows at random times, at a mean rate a second, for the duration d, and waits
// until all have ended. It takes samples while it begins flows.
func (s *service) drive(ctx context.Context, rate float64, d, every time.Duration) *outcome {
	o := newOutcome(rate)
	stopped := s.watch(o, every)
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxFlows)
	next := time.Now()
	for end := next.Add(d); next.Before(end) && ctx.Err() == nil; next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(next))
		select {
		case slots <- struct{}{}:
		default:
			continue
		}
		o.started++
		wg.Go(func() {
			accepted, ended := s.flow(ctx, o)
			<-slots
			o.mu.Lock()
			defer o.mu.Unlock()
			if ended {
				o.ended++
			} else if accepted {
				o.unfinished++
			}
		})
	}
	stopped()
	wg.Wait()
	return o
}

// watch takes samples until it is stopped, and at least the three that outcome.level needs.
func (s *service) watch(o *outcome, every time.Duration) (stop func()) {
	stopping := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for stopped := false; !stopped || len(o.samples) < 3; {
			select {
			case <-stopping:
				stopped = true
			case <-time.After(every):
			}
			o.samples = append(o.samples, s.sample())
		}
	})
	return func() { close(stopping); done.Wait() }
}

// recover waits until the queue is empty, and then for the duration rest.
func (s *service) recover(ctx context.Context, rest time.Duration) error {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		n, err := s.engine.Queued(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("the queue is not empty after five minutes")
		}
	}
	time.Sleep(rest)
	return ctx.Err()
}

// failed is the number of responses other than 2xx.
func (o *outcome) failed() int {
	return o.without(func(status int) bool { return status >= 200 && status < 300 })
}

// unexpected is the number of responses other than 2xx, 429 and 503.
func (o *outcome) unexpected() int {
	return o.without(func(status int) bool {
		return status >= 200 && status < 300 || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
	})
}

func (o *outcome) without(good func(int) bool) int {
	n := 0
	for _, by := range o.status {
		for status, k := range by {
			if !good(status) {
				n += k
			}
		}
	}
	return n
}

// quantile is the quantile p, 0 to 1, of the durations of successful calls.
func (o *outcome) quantile(call string, p float64) time.Duration {
	t := o.took[call]
	if len(t) == 0 {
		return 0
	}
	slices.Sort(t)
	return t[min(int(p*float64(len(t))), len(t)-1)]
}

func (o *outcome) median(call string) time.Duration { return o.quantile(call, 0.5) }

// level returns an error that names the measures that grew from the second third of the
// samples to the last by more than the share growth.
func (o *outcome) level(growth float64) error {
	n := len(o.samples) / 3
	if n == 0 {
		return fmt.Errorf("got %d samples, want at least 3", len(o.samples))
	}
	var faults []string
	for _, m := range []struct {
		name string
		of   func(sample) float64
		free float64 // growth that is always allowed
	}{
		{"memory", func(s sample) float64 { return s.memory }, 16 << 20},
		{"goroutines", func(s sample) float64 { return s.goroutines }, 20},
		{"database", func(s sample) float64 { return s.database }, 1 << 20},
	} {
		second, last := middle(o.samples[n:2*n], m.of), middle(o.samples[2*n:], m.of)
		if last > second*(1+growth) && last-second > m.free {
			faults = append(faults, fmt.Sprintf("%s grew from %.0f to %.0f", m.name, second, last))
		}
	}
	if faults != nil {
		return errors.New(strings.Join(faults, ", "))
	}
	return nil
}

// middle is the median of a measure.
func middle(s []sample, of func(sample) float64) float64 {
	x := make([]float64, len(s))
	for i := range s {
		x[i] = of(s[i])
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// print prints the results.
func (o *outcome) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-9s %.1f flows/s wanted, %d begun, %d ended, %d accepted and not ended\n", name, o.rate, o.started, o.ended, o.unfinished)
	for _, call := range []string{"initiate", "submit", "result", "feedback", "list", "delete"} {
		var parts []string
		codes := make([]int, 0, len(o.status[call]))
		for status := range o.status[call] {
			codes = append(codes, status)
		}
		slices.SortFunc(codes, cmp.Compare[int])
		for _, status := range codes {
			parts = append(parts, fmt.Sprintf("%d: %d", status, o.status[call][status]))
		}
		fmt.Fprintf(out, "  %-9s %-40s median %v, 99 %% %v\n", call, strings.Join(parts, ", "),
			o.median(call).Round(10*time.Microsecond), o.quantile(call, 0.99).Round(10*time.Microsecond))
	}
	for _, e := range o.errors {
		fmt.Fprintf(out, "  %s\n", e)
	}
	if n := len(o.samples); n > 0 {
		mb := func(s []sample, of func(sample) float64) float64 { return middle(s, of) / (1 << 20) }
		third := max(n/3, 1)
		first, last := o.samples[:third], o.samples[n-third:]
		memory, database := func(s sample) float64 { return s.memory }, func(s sample) float64 { return s.database }
		goroutines := func(s sample) float64 { return s.goroutines }
		fmt.Fprintf(out, "  first and last third: memory %.0f and %.0f MiB, goroutines %.0f and %.0f, database %.1f and %.1f MiB\n",
			mb(first, memory), mb(last, memory), middle(first, goroutines), middle(last, goroutines), mb(first, database), mb(last, database))
	}
}
