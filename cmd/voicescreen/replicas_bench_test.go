//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	benchConns   = 64 // of the clients; 8 of them submit
	benchUploads = 8
	benchTurns   = 4 // in which the service and the bare program take turns
)

// sender makes one call on a connection of its own: how often it was called before, in
// all, is i.
type sender func(conn net.Conn, r *bufio.Reader, i int) error

// inTurns measures the service and a bare pgx program that sends the statements of the
// same calls, in turns, and reports calls a second of both and their ratio. The clients
// and PostgreSQL run on the same processors.
func (f *fleet) inTurns(b *testing.B, unit string, conns int, call sender, bare func(ctx context.Context, pool *pgxpool.Pool, i int) error) {
	config, err := pgxpool.ParseConfig(f.pg.URL(f.database))
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = 16 // as each replica has
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	open, readers := f.dial(b, conns)
	n := max(b.N, conns*benchTurns)
	var took [2]time.Duration
	var ticks [2]float64 // of processors: a ratio that others on the machine change less
	before := f.written()
	b.ResetTimer()
	for turn := range benchTurns {
		from, to := turn*n/benchTurns, (turn+1)*n/benchTurns
		begin := processorTime()
		took[0] += atOnce(b, conns, from, to, func(c, i int) error { return call(open[c], readers[c], i) })
		half := processorTime()
		ticks[0] += half - begin
		if turn == 0 {
			b.ReportMetric((f.written()-before)/float64(to-from), "wal-B/op")
		}
		half = processorTime()
		took[1] += atOnce(b, conns, from, to, func(_, i int) error { return bare(b.Context(), pool, i) })
		ticks[1] += processorTime() - half
	}
	b.StopTimer()
	b.ReportMetric(float64(n)/took[0].Seconds(), unit+"/s")
	b.ReportMetric(float64(n)/took[1].Seconds(), "bare/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	if ticks[0] > 0 {
		b.ReportMetric(ticks[1]/ticks[0], "cpu-ratio")
	}
}

// dial opens connections to the replicas in turn. The benchmark closes them.
func (f *fleet) dial(b *testing.B, n int) (conns []net.Conn, readers []*bufio.Reader) {
	for i := range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.replicas[i%len(f.replicas)].base, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		conns, readers = append(conns, conn), append(readers, bufio.NewReader(conn))
	}
	return conns, readers
}

// atOnce calls do for each number from a range, in n goroutines, and returns how long that
// took.
func atOnce(b *testing.B, n, from, to int, do func(client, i int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	begin := time.Now()
	for client := range n {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				if err := do(client, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}

// written returns how many bytes the write-ahead log has.
func (f *fleet) written() float64 {
	n, err := strconv.ParseFloat(f.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"), 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// exchange sends a request and reads an answer of the status.
func exchange(conn net.Conn, r *bufio.Reader, want int, parts ...[]byte) error {
	buffers := net.Buffers(parts)
	if _, err := buffers.WriteTo(conn); err != nil {
		return err
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != want {
		return fmt.Errorf("got status %d, want %d", res.StatusCode, want)
	}
	return nil
}

func (f *fleet) head(method, path, contentType string, length int) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", method, path, f.crowd.key, contentType, length)
}

const bareSession = `
	INSERT INTO voicescreen.sessions (id, account, user_id, status, created_at, updated_at, product, audio, channel, speech, duration, fixed_gain, baseline,
		owner, token, attempts, notices, analysed)
	VALUES ($1, 'clinic-a', 'patient-31', $2, clock_timestamp(), clock_timestamp(), '', '', 0, '', 0, false, false, '', 0, 0, 0, 0)`

func (f *fleet) initiates(b *testing.B) {
	body := []byte("is_initiated=true&user_id=patient-31")
	head := f.head("POST", "/initiate", form, len(body))
	f.inTurns(b, "initiates", benchConns, func(conn net.Conn, r *bufio.Reader, _ int) error {
		return exchange(conn, r, http.StatusCreated, head, body)
	}, func(ctx context.Context, pool *pgxpool.Pool, i int) error {
		_, err := pool.Exec(ctx, bareSession, fmt.Sprint("bare ", i, b.Name(), b.N), "initiated")
		return err
	})
}

func (f *fleet) results(b *testing.B) {
	f.sql(`INSERT INTO voicescreen.sessions SELECT (jsonb_populate_record(s, jsonb_build_object('id', 'done ' || i))).* FROM voicescreen.sessions s, generate_series(1, 1000) i
		WHERE s.id = '` + f.crowd.acknowledged[0] + `' ON CONFLICT DO NOTHING`)
	const all = 1000
	f.inTurns(b, "results", benchConns, func(conn net.Conn, r *bufio.Reader, i int) error {
		return exchange(conn, r, http.StatusOK, f.head("GET", fmt.Sprint("/predict/sessions/done%20", 1+i%all), form, 0))
	}, func(ctx context.Context, pool *pgxpool.Pool, i int) error {
		rows, err := pool.Query(ctx, "SELECT * FROM voicescreen.sessions WHERE id = $1 AND account = $2", fmt.Sprint("done ", 1+i%all), "clinic-a")
		if err != nil {
			return err
		}
		_, err = pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
		return err
	})
}

func (f *fleet) submissions(b *testing.B) {
	recording := bytes.Repeat(read(b, short)[44:], 7)[:30*2*44100]
	file := append(bytes.Clone(clip(read(b, short), 0)), recording...)
	for i, field := range map[int]int{4: len(file) - 8, 40: len(recording)} {
		copy(file[i:], []byte{byte(field), byte(field >> 8), byte(field >> 16), byte(field >> 24)})
	}
	ids := make([]string, max(b.N, benchUploads*benchTurns))
	atOnce(b, benchUploads, 0, len(ids), func(_, i int) error {
		_, o, err := f.crowd.call(b.Context(), "POST", f.replicas[0].base+"/initiate", form, []byte("is_initiated=true&user_id=patient-31"))
		ids[i], _ = o["session_id"].(string)
		return err
	})
	prefix := fmt.Sprint("bare upload ", b.Name(), " ", b.N, " ")
	f.sql(fmt.Sprintf(`INSERT INTO voicescreen.sessions (id, account, user_id, status, created_at, updated_at, product, audio, channel, speech, duration, fixed_gain, baseline,
			owner, token, attempts, notices, analysed)
		SELECT '%s' || i, 'clinic-a', 'patient-31', 'initiated', clock_timestamp(), clock_timestamp(), '', '', 0, '', 0, false, false, '', 0, 0, 0, 0
		FROM generate_series(0, %d) i`, prefix, len(ids)))
	f.inTurns(b, "submissions", benchUploads, func(conn net.Conn, r *bufio.Reader, i int) error {
		before := []byte("--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\n" + ids[i] +
			"\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\n")
		after := []byte("\r\n--x--\r\n")
		return exchange(conn, r, http.StatusAccepted, f.head("POST", "/predict", "multipart/form-data; boundary=x", len(before)+len(file)+len(after)), before, file, after)
	}, func(ctx context.Context, pool *pgxpool.Pool, i int) error {
		return bareUpload(ctx, pool, fmt.Sprint(prefix, i), file)
	})
	f.sql("DELETE FROM voicescreen.sessions WHERE status IN ('initiated', 'processing'); DELETE FROM voicescreen.audio")
}

// bareUpload submits a recording as the store does: it looks at the session and at the
// length of the queue, stores chunks without a sync and one at the end, and changes the
// session in a transaction of two round trips.
func bareUpload(ctx context.Context, pool *pgxpool.Pool, id string, file []byte) error {
	var status string
	var due int
	if err := pool.QueryRow(ctx, "SELECT status FROM voicescreen.sessions WHERE id = $1 AND account = $2", id, "clinic-a").Scan(&status); err != nil {
		return err
	}
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM voicescreen.sessions WHERE due IS NOT NULL").Scan(&due); err != nil {
		return err
	}
	const chunk = 256 << 10
	for n := 0; n*chunk < len(file); n++ {
		b := &pgx.Batch{}
		b.Queue("BEGIN")
		last := (n+1)*chunk >= len(file)
		if !last {
			b.Queue("SELECT set_config('synchronous_commit', 'off', true)")
		}
		if n == 0 {
			b.Queue("INSERT INTO voicescreen.audio (ref, put_at) VALUES ($1, clock_timestamp())", id)
		}
		b.Queue("INSERT INTO voicescreen.audio_chunks (ref, number, data) VALUES ($1, $2, $3)", id, n, file[n*chunk:min((n+1)*chunk, len(file))])
		if last {
			b.Queue("UPDATE voicescreen.audio SET chunks = $2 WHERE ref = $1 AND (SELECT count(*) FROM voicescreen.audio_chunks WHERE ref = $1) = $2", id, n+1)
		}
		b.Queue("COMMIT")
		if err := pool.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
	}
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue("SELECT * FROM voicescreen.sessions WHERE id = $1 AND account = $2 FOR UPDATE", id, "clinic-a")
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	b = &pgx.Batch{}
	b.Queue("SELECT FROM voicescreen.audio WHERE ref = $1 FOR KEY SHARE", id)
	b.Queue("UPDATE voicescreen.sessions SET status = 'processing', product = 'depression-anxiety', audio = $1, duration = 30, submitted_at = now(), updated_at = now(), due = now() WHERE id = $1", id)
	b.Queue("COMMIT")
	return c.SendBatch(ctx, b).Close()
}

// BenchmarkReplicas measures one and three servers on one PostgreSQL database beside a
// bare pgx program, with clients, servers and PostgreSQL on the same processors:
//
//	go test ./cmd/voicescreen -run '^$' -bench Replicas -benchtime 3s
func BenchmarkReplicas(b *testing.B) {
	for _, n := range []int{1, 3} {
		pg, url := newDatabase(b)
		f := newFleet(b, built, pg, nameOf(url), url, n, []string{"--workers", "0", "--queue", "1000000"}, nil)
		f.sql("DROP SCHEMA proof CASCADE")
		f.crowd.recordings = f.crowd.recordings[1:] // with a result
		worker := startProgram(b, "work", "--db", url, "--addr", "127.0.0.1:0")
		f.crowd.visit(b.Context())
		f.settle(false)
		worker.stop()
		b.Run(fmt.Sprint("initiates/", n), f.initiates)
		b.Run(fmt.Sprint("results/", n), f.results)
		b.Run(fmt.Sprint("submissions/", n), f.submissions)
		f.stop()
	}
}

// BenchmarkPinned measures analyses a second of one worker process that is pinned to the
// first processor, and of two that are pinned to one each:
//
//	go test ./cmd/voicescreen -run '^$' -bench Pinned -benchtime 40x
func BenchmarkPinned(b *testing.B) {
	if _, err := exec.LookPath("taskset"); err != nil {
		b.Skip(err)
	}
	var rates []float64
	n := max(b.N, 4)
	for workers := 1; workers <= 2; workers++ {
		pg, url := newDatabase(b)
		f := newFleet(b, built, pg, nameOf(url), url, 1, []string{"--workers", "0"}, nil)
		f.crowd.recordings = [][]byte{read(b, interview)}
		atOnce(b, 4, 0, n, func(_, _ int) error { f.crowd.visit(b.Context()); return nil })
		var all []*server
		for cpu := range workers {
			all = append(all, startCommand(b, exec.Command("taskset", "-c", strconv.Itoa(cpu), built, "work", "--db", url, "--addr", "127.0.0.1:0", "--workers", "1")))
		}
		f.settle(false)
		seconds, err := strconv.ParseFloat(f.sql("SELECT extract(epoch FROM max(at) - (SELECT min(at) FROM proof.leases)) FROM proof.results"), 64)
		if err != nil {
			b.Fatal(err)
		}
		rates = append(rates, float64(n)/seconds)
		for _, s := range all {
			s.stop()
		}
		f.stop()
	}
	b.ReportMetric(rates[0], "analyses/s-1")
	b.ReportMetric(rates[1], "analyses/s-2")
	b.ReportMetric(rates[1]/rates[0], "growth")
}

// BenchmarkLife measures what a session needs from its beginning to its result, with
// recordings in S3: calls of S3 and bytes of the write-ahead log.
//
//	go test ./cmd/voicescreen -run '^$' -bench Life -benchtime 40x
func BenchmarkLife(b *testing.B) {
	o := newOutage(b)
	o.sql("DROP SCHEMA proof CASCADE")
	o.crowd.recordings = [][]byte{read(b, interview)}
	o.crowd.visit(b.Context()) // the connections are open then
	o.settle(false)
	n := max(b.N, 4)
	written, calls := o.written(), o.bucket.calls.Load()
	atOnce(b, 4, 0, n, func(_, _ int) error { o.crowd.visit(b.Context()); return nil })
	o.settle(false)
	b.ReportMetric((o.written()-written)/float64(n), "wal-B/op")
	b.ReportMetric(float64(o.bucket.calls.Load()-calls)/float64(n), "s3-calls/op")
	o.stop()
}
