//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
)

// envReplicas says for how long one of three replicas is killed every 2 s.
const envReplicas = "VOICESCREEN_TEST_REPLICAS"

const (
	fleetLease = 15 * time.Second // of the program
	shortRate  = 10               // submissions a second of a short run
	longRate   = 20               // and of a long one
)

// fleet is servers on one database.
type fleet struct {
	t        testing.TB
	program  string
	args     []string
	env      []string
	pg       *pgserver.Server
	database string // its name
	crowd    *crowd
	rate     int // submissions a second
	replicas []*server
}

// newFleet makes a key and starts replicas. Url is the address of the database that the
// replicas are given.
func newFleet(t testing.TB, program string, pg *pgserver.Server, database, url string, replicas int, args, env []string) *fleet {
	t.Helper()
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", pg.URL(database), "--account", "clinic-a").stdout)
	f := &fleet{
		t: t, program: program, pg: pg, database: database, crowd: newCrowd(t, key, replicas), rate: shortRate,
		args: append([]string{"serve", "--addr", "127.0.0.1:0", "--db", url, "--log-level", "error"}, args...), env: append(os.Environ(), env...),
		replicas: make([]*server, replicas),
	}
	f.sql(watching)
	for i := range f.replicas {
		f.start(i)
	}
	return f
}

func (f *fleet) start(i int) {
	f.t.Helper()
	cmd := exec.Command(f.program, f.args...)
	cmd.Env = f.env
	f.replicas[i] = startCommand(f.t, cmd)
	f.crowd.bases[i].Store(&f.replicas[i].base)
}

// kill kills a replica and starts it again.
func (f *fleet) kill(i int) {
	f.t.Helper()
	_ = f.replicas[i].cmd.Process.Kill()
	_ = f.replicas[i].cmd.Wait() // it says that it was killed
	f.start(i)
}

func (f *fleet) stop() {
	for _, s := range f.replicas {
		s.stop()
	}
}

func (f *fleet) sql(statements string) string {
	f.t.Helper()
	out, err := f.pg.SQL(f.t.Context(), f.database, statements)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// watching makes the database note each result that is stored and each lease: how long
// the session was overdue then, whether its former lease had run out, and for how long
// the new one is.
const watching = `
	CREATE SCHEMA proof;
	CREATE TABLE proof.results (id text, at timestamptz);
	CREATE TABLE proof.leases (id text, overdue interval, again boolean, term interval, at timestamptz);
	CREATE FUNCTION proof.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.status <> 'processing' AND (OLD.status = 'processing' OR NEW.analysis IS DISTINCT FROM OLD.analysis) THEN
			INSERT INTO proof.results VALUES (NEW.id, clock_timestamp());
		END IF;
		IF NEW.token > OLD.token THEN
			INSERT INTO proof.leases VALUES (NEW.id, clock_timestamp() - OLD.due, OLD.owner <> '', NEW.due - clock_timestamp(), clock_timestamp());
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER note AFTER UPDATE ON voicescreen.sessions FOR EACH ROW EXECUTE FUNCTION proof.note();`

// load drives the crowd while f does its work.
func (f *fleet) load(work func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel() // also when work ends the test
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.crowd.drive(ctx, f.rate, resultTime)
	}()
	work()
	cancel()
	<-done
}

// settle waits until nothing waits to be analysed. If hurry is true, it does not wait for
// the leases of dead replicas, nor between two attempts: it lets them end at once.
func (f *fleet) settle(hurry bool) {
	f.t.Helper()
	if hurry {
		f.sql("UPDATE voicescreen.sessions SET due = clock_timestamp() WHERE owner <> ''")
	}
	end := time.Now().Add(resultTime + fleetLease)
	for f.sql("SELECT count(*) FROM voicescreen.sessions WHERE status = 'processing'") != "0" && time.Now().Before(end) {
		if hurry {
			f.sql("UPDATE voicescreen.sessions SET due = clock_timestamp() WHERE due > clock_timestamp() AND owner = ''")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// check compares the journal with the service and with what the database noted.
func (f *fleet) check() (givenUp int, overdue time.Duration) {
	f.t.Helper()
	givenUp = f.crowd.results(f.t.Context())
	if n := f.sql("SELECT count(*) FROM (SELECT id FROM proof.results GROUP BY id HAVING count(*) > 1) twice"); n != "0" {
		f.crowd.fault("%s sessions have more than one result", n)
	}
	// Recordings that wait longer than one of a dead replica are taken first. So no
	// wait after the end of a lease may be longer than others at the same load.
	row := strings.Split(f.sql(`SELECT
		coalesce(extract(epoch FROM max(overdue) FILTER (WHERE again)), 0),
		coalesce(extract(epoch FROM max(overdue) FILTER (WHERE NOT again)), 0),
		coalesce(extract(epoch FROM max(term)), 0) FROM proof.leases`), "|")
	var seconds [3]float64
	for i, text := range row {
		var err error
		if seconds[i], err = strconv.ParseFloat(text, 64); err != nil {
			f.t.Fatal(err)
		}
	}
	if seconds[2] > fleetLease.Seconds()+1 {
		f.crowd.fault("a lease lasts %.0f s, want %v", seconds[2], fleetLease)
	}
	if seconds[0] > seconds[1]+5 {
		f.crowd.fault("a session waited %.1f s after its lease had run out, others %.1f s", seconds[0], seconds[1])
	}
	return givenUp, time.Duration(seconds[0] * float64(time.Second))
}

// sweep wants no more recordings than uploads that broke off, and none when a replica
// that starts has swept those that are old.
func (f *fleet) sweep() {
	f.t.Helper()
	const count = "SELECT count(*) FROM voicescreen.audio"
	broken := f.crowd.counted("submit without an answer") + f.crowd.counted("submit 503")
	if n, err := strconv.Atoi(f.sql(count)); err != nil || n > broken {
		f.crowd.fault("%d recordings (%v) are left, want at most those of %d uploads that broke off", n, err, broken)
	}
	f.sql("UPDATE voicescreen.audio SET put_at = put_at - interval '2 days'")
	f.kill(0)
	left := ""
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if left = f.sql(count); left == "0" {
			return
		}
	}
	f.crowd.fault("%s recordings are left after a sweep", left)
}

// summary says what the crowd was answered.
func (f *fleet) summary() string {
	return fmt.Sprintf("%d acknowledged; %v", len(f.crowd.acknowledged), f.crowd.statuses)
}

// duration reads how long the long form of a proof takes; def is the short one.
func duration(t *testing.T, env string, def time.Duration) (d time.Duration, long bool) {
	text := os.Getenv(env)
	if text == "" {
		return def, false
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return d, true
}

// TestReplicasAreKilled kills one of three servers on one PostgreSQL database again and
// again: every submission that was acknowledged has one result, none waits for longer than
// its lease, and no audio is left. Then a fault is planted, which must be found.
func TestReplicasAreKilled(t *testing.T) {
	t.Parallel()
	pg, url := newDatabase(t)
	last, long := duration(t, envReplicas, 1500*time.Millisecond)
	every := 2 * time.Second
	if !long {
		every = 500 * time.Millisecond
	}
	f := newFleet(t, built, pg, nameOf(url), url, 3, nil, nil)
	if long {
		f.rate = longRate
	}
	kills := f.siege(last, every)
	f.settle(!long)
	givenUp, overdue := f.check()
	f.sweep()
	if faults := f.crowd.allFaults(); faults != "" {
		t.Error(faults)
	}
	if len(f.crowd.acknowledged) == 0 || kills == 0 {
		t.Error("too little was done to show anything")
	}
	t.Logf("%d kills: %s; %d given up after three kills; at most %v between the end of a lease and the next one", kills, f.summary(), givenUp, overdue)

	// A lease that ends in a day: the session of a dead worker is stuck.
	f.sql(`CREATE FUNCTION proof.fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.token > OLD.token THEN NEW.due := NEW.due + interval '1 day'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER fault BEFORE UPDATE ON voicescreen.sessions FOR EACH ROW EXECUTE FUNCTION proof.fault()`)
	f.siege(time.Millisecond, time.Second)
	f.settle(false)
	f.check()
	if faults := f.crowd.allFaults(); !strings.Contains(faults, "a lease lasts") {
		t.Errorf("the planted fault: got %q, want that leases last too long", faults)
	}
	f.stop()
	if long {
		f.planted(last)
	}
}

// siege drives the crowd for some time and kills a replica now and then.
func (f *fleet) siege(last, every time.Duration) (kills int) {
	f.load(func() {
		for end := time.Now().Add(last); ; kills++ {
			time.Sleep(every)
			if time.Now().After(end) {
				return
			}
			f.kill(rand.IntN(len(f.replicas)))
		}
	})
	return kills
}

// planted kills replicas of a program that acknowledges a submission before it is stored.
func (f *fleet) planted(last time.Duration) {
	const name = "a submission is acknowledged before it is stored"
	_, url := newDatabase(f.t)
	g := newFleet(f.t, buildPlanted(f.t), f.pg, nameOf(url), url, 3, nil, []string{envPlanted + "=" + name})
	g.rate = f.rate
	g.siege(min(last, time.Minute), 2*time.Second)
	g.settle(false)
	g.check()
	if faults := g.crowd.allFaults(); !regexp.MustCompile("recording is lost").MatchString(faults) {
		f.t.Errorf("the planted fault: got %q, want that recordings are lost", faults)
	}
	g.stop()
}
