package httpadapter_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// loaded is a service as "voicescreen serve" makes it, on a bolt store, but
// with its workers paused.
type loaded struct {
	b       *testing.B
	store   *bolt.Store
	account *voicescreen.Account
	addr    string
	head    string // header lines of every request
}

// loadOptions are optional parts of a service.
type loadOptions struct {
	audited bool   // with an audit log
	key     []byte // of the store; nil for none
}

func newLoaded(b *testing.B, o loadOptions) *loaded {
	b.Helper()
	var opts httpadapter.Options
	if o.audited {
		var err error
		if opts.Audit, err = audit.Open(filepath.Join(b.TempDir(), "audit.log"), nil); err != nil {
			b.Fatal(err)
		}
	}
	st, err := bolt.Open(filepath.Join(b.TempDir(), "load.db"), &bolt.Options{Key: o.key})
	if err != nil {
		b.Fatal(err)
	}
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1, Queue: voicescreen.QueueOptions{Limit: 1 << 30}})
	if err != nil {
		b.Fatal(err)
	}
	keys := httpadapter.NewKeys()
	key := mustCreate(b, keys, "clinic")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := httpadapter.NewServer("", httpadapter.New(e, keys, &opts))
	go server.Serve(l)
	b.Cleanup(func() {
		server.Close()
		if err := e.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := st.Close(); err != nil {
			b.Error(err)
		}
		if o.audited {
			if _, err := opts.Audit.Close(); err != nil {
				b.Error(err)
			}
		}
	})
	return &loaded{b: b, store: st, account: e.Tenant("clinic"), addr: l.Addr().String(),
		head: "Host: localhost\r\nX-API-Key: " + key + "\r\n"}
}

// run makes b.N requests over a number of connections, each of which waits for
// its answer before the next, and reports how many there were in a second and
// how long they took. It writes and reads the bytes itself: net/http's client
// takes as long as the server. Request appends the i-th request to dst.
func (l *loaded) run(conns int, unit string, want int, request func(dst net.Buffers, i int) net.Buffers) {
	b := l.b
	b.Helper()
	took := make([][]time.Duration, conns)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for c := range conns {
		conn, err := net.Dial("tcp", l.addr)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		wg.Go(func() {
			r := bufio.NewReader(conn)
			<-start
			for i := c; i < b.N; i += conns {
				begin := time.Now()
				buffers := request(nil, i)
				if _, err := buffers.WriteTo(conn); err != nil {
					b.Error(err)
					return
				}
				status, err := readAnswer(r)
				if err != nil || status != want {
					b.Errorf("request %d: got %d %v, want %d", i, status, err, want)
					return
				}
				took[c] = append(took[c], time.Since(begin))
			}
		})
	}
	b.ResetTimer()
	close(start)
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) == 0 {
		return
	}
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), unit+"/s")
	b.ReportMetric(all[len(all)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(all[len(all)*99/100].Seconds()*1e3, "p99-ms")
}

// readAnswer reads an answer with a Content-Length, to its end.
func readAnswer(r *bufio.Reader) (status int, err error) {
	length := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			if len(line) < 12 {
				return 0, fmt.Errorf("status line %q", line)
			}
			status, err = strconv.Atoi(string(line[9:12]))
			if err != nil {
				return 0, err
			}
			continue
		}
		if len(line) == 0 {
			_, err = r.Discard(length)
			return status, err
		}
		if name, value, _ := strings.Cut(string(line), ": "); name == "Content-Length" {
			if length, err = strconv.Atoi(value); err != nil {
				return 0, err
			}
		}
	}
}

// initiate opens n sessions.
func (l *loaded) initiate(n int) []string {
	l.b.Helper()
	ids := make([]string, n)
	var wg sync.WaitGroup
	for w := range 64 { // that share transactions
		wg.Go(func() {
			for i := w; i < n; i += 64 {
				var err error
				if ids[i], err = l.account.Initiate(context.Background(), voicescreen.InitiateRequest{UserID: fmt.Sprint("patient-", i%100), Consent: true}); err != nil {
					l.b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return ids
}

// BenchmarkLoad measures the service under its intended load, on a bolt store and
// over TCP, with the generator in the same process:
//
//	go test ./httpadapter -run '^$' -bench Load -benchtime 5s
//
// Goals, on two cores: 6,000 sessions opened in a second with a p99 of 25 ms at
// 64 connections; 25,000 results; 100 submissions of half a minute, 2.6 MB each,
// with a p99 of 200 ms at 8 connections. "audited" has an audit log, and each answer
// waits for its record; "encrypted" has an encrypted store. A submission takes as
// much disk as its recording until the benchmark ends.
func BenchmarkLoad(b *testing.B) {
	benchmarkLoad(b, loadOptions{})
	b.Run("encrypted", func(b *testing.B) { benchmarkLoad(b, loadOptions{key: make([]byte, bolt.KeySize)}) })
	b.Run("audited", func(b *testing.B) { benchmarkLoad(b, loadOptions{audited: true}) })
}

func benchmarkLoad(b *testing.B, o loadOptions) {
	b.Run("initiate", func(b *testing.B) {
		l := newLoaded(b, o)
		body := "user_id=patient-17&is_initiated=true&metadata.age=30&metadata.gender=Female"
		text := []byte(fmt.Sprintf("POST /v2/initate HTTP/1.1\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", l.head, formType, len(body), body))
		l.run(64, "initiate", http.StatusCreated, func(dst net.Buffers, _ int) net.Buffers { return append(dst, text) })
	})
	b.Run("results", func(b *testing.B) {
		l := newLoaded(b, o)
		ids := l.initiate(1000)
		recording := testWAV(b, 44100, 1, 0.1)
		texts := make([][]byte, len(ids))
		for i, id := range ids {
			ctx := context.Background()
			if _, err := l.account.Submit(ctx, id, bytes.NewReader(recording), nil); err != nil {
				b.Fatal(err)
			}
			if _, err := l.store.Update(ctx, "clinic", id, func(r *store.Session, _ time.Time) error { return become(r, "succeeded") }); err != nil {
				b.Fatal(err)
			}
			texts[i] = []byte("GET /v2/predict/sessions/" + id + " HTTP/1.1\r\n" + l.head + "\r\n")
		}
		l.run(64, "results", http.StatusOK, func(dst net.Buffers, i int) net.Buffers { return append(dst, texts[i%len(texts)]) })
	})
	b.Run("submissions", func(b *testing.B) {
		l := newLoaded(b, o)
		ids := l.initiate(b.N)
		recording := testWAV(b, 44100, 1, 30)
		b.SetBytes(int64(len(recording)))
		part := func(name, more string) string {
			return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n"
		}
		tail := []byte("\r\n--x--\r\n")
		l.run(8, "submissions", http.StatusAccepted, func(dst net.Buffers, i int) net.Buffers {
			fields := part("session_id", "") + ids[i] + "\r\n" + part("file", "; filename=\"answer.wav\"\r\nContent-Type: audio/wav")
			head := fmt.Sprintf("POST /v2/prediction/ HTTP/1.1\r\n%sContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n%s",
				l.head, len(fields)+len(recording)+len(tail), fields)
			return append(dst, []byte(head), recording, tail)
		})
	})
}

// The generator reads answers as they are.
func TestReadAnswer(t *testing.T) {
	r := bufio.NewReader(strings.NewReader("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX: y\r\n\r\nhello" +
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
	for _, want := range []int{201, 404} {
		if got, err := readAnswer(r); got != want || err != nil {
			t.Errorf("got %d %v, want %d", got, err, want)
		}
	}
	if _, err := readAnswer(r); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}
