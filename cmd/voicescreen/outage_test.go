//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/internal/proof/s3server"
)

const (
	envPostgresKills = "VOICESCREEN_TEST_KILLS"  // how often PostgreSQL is killed
	envOutage        = "VOICESCREEN_TEST_OUTAGE" // how long each other outage lasts
)

// outage is a fleet whose servers fail: PostgreSQL, the network to it, and S3.
type outage struct {
	*fleet
	gate   *gate
	bucket *bucketGate
	s3     *s3server.Server
}

func newOutage(t testing.TB) *outage {
	t.Helper()
	s3, err := s3server.Start()
	if errors.Is(err, s3server.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	pg, perr := pgserver.StartInMemory() // what a killed process has written is kept, on a disk too
	t.Cleanup(func() {
		if err := s3.Stop(); err != nil {
			t.Error(err)
		}
		if pg == nil {
			return
		}
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	if errors.Is(perr, pgserver.ErrNotInstalled) {
		t.Skip(perr)
	}
	if err := errors.Join(perr, s3.Bucket("recordings")); err != nil {
		t.Fatal(err)
	}
	o := &outage{gate: newGate(t, pg.Socket()), bucket: newBucketGate(t, s3.Addr), s3: s3}
	host, port, _ := strings.Cut(o.gate.l.Addr().String(), ":")
	url := "postgres://" + pgserver.Superuser + "@" + host + ":" + port + "/postgres?sslmode=disable"
	o.fleet = newFleet(t, built, pg, "postgres", url, 2, []string{"--audio", "s3://recordings/clinic?endpoint=http://" + o.bucket.addr},
		[]string{"AWS_ACCESS_KEY_ID=" + s3server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s3server.SecretKey, "AWS_EC2_METADATA_DISABLED=true"})
	return o
}

// goesOn waits until another submission is acknowledged.
func (o *outage) goesOn(after string) {
	o.t.Helper()
	count := func() int { return o.crowd.counted("submit 202") }
	for before, end := count(), time.Now().Add(resultTime); count() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Errorf("nothing is accepted after %s", after)
			return
		}
	}
}

// refused wants answers 503 during work.
func (o *outage) refused(what string, last time.Duration, begin, end func()) {
	o.t.Helper()
	count := func() int { return o.crowd.counted("submit 503") + o.crowd.counted("initiate 503") }
	before := count()
	begin()
	time.Sleep(last)
	for late := time.Now().Add(resultTime); count() == before && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	end()
	n := count() - before
	if n == 0 {
		o.t.Errorf("%s: nothing was answered 503", what)
	}
	o.t.Logf("%s: %d answers 503", what, n)
	o.goesOn(what)
}

// killPostgres kills the server and starts it again.
func (o *outage) killPostgres() {
	o.t.Helper()
	o.pg.Kill()
	if err := o.pg.Restart(); err != nil {
		o.t.Fatal(err)
	}
}

// TestServersFail makes what two servers of the service stand on fail under load: nothing
// that was acknowledged is lost, calls are answered 503 with Retry-After meanwhile, and
// all goes on without a restart. Then faults are planted, which must be found.
func TestServersFail(t *testing.T) {
	t.Parallel()
	last, long := duration(t, envOutage, 300*time.Millisecond)
	kills := 1
	if long {
		kills = 25
		if text := os.Getenv(envPostgresKills); text != "" {
			var err error
			if kills, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := newOutage(t)
	if long {
		o.rate = longRate
	}
	o.load(func() {
		o.goesOn("the start")
		for range kills {
			o.killPostgres()
			o.goesOn("PostgreSQL was killed")
		}
		o.refused("the network to PostgreSQL is broken", last, func() { o.gate.set(false, true) }, func() { o.gate.set(false, false) })
		o.gate.set(true, false) // silent: calls wait, and nothing is known of them
		time.Sleep(last)
		o.gate.set(false, false)
		o.goesOn("the network to PostgreSQL was silent")
		o.refused("S3 is down", last, func() { _ = o.s3.Kill() }, func() {
			if err := o.s3.Restart(); err != nil {
				t.Error(err)
			}
		})
		o.refused("S3 is full", last, func() { o.bucket.state.Store(bucketFull) }, func() { o.bucket.state.Store(bucketWorks) })
		o.bucket.state.Store(bucketSlow)
		o.goesOn("S3 became slow")
		time.Sleep(last)
		o.bucket.state.Store(bucketWorks)
	})
	o.settle(!long)
	if givenUp, _ := o.check(); givenUp > 0 {
		t.Errorf("%d recordings were given up", givenUp)
	}
	if faults := o.crowd.allFaults(); faults != "" {
		t.Error(faults)
	}
	t.Logf("%d kills of PostgreSQL: %s", kills, o.summary())
	o.planted()
	o.stop()
}

// planted plants faults: an S3 server that loses what it acknowledged, and a PostgreSQL
// server that comes back without what it acknowledged last.
func (o *outage) planted() {
	o.t.Helper()
	o.bucket.state.Store(bucketForgets)
	o.load(func() { o.goesOn("S3 forgets") })
	o.bucket.state.Store(bucketWorks)
	o.settle(true)
	if givenUp, _ := o.check(); givenUp == 0 && o.crowd.allFaults() == "" {
		o.t.Error("recordings that S3 lost were not found")
	}
	data, old := filepath.Join(o.pg.Dir, "data"), filepath.Join(o.pg.Dir, "old")
	o.pg.Kill()
	if out, err := exec.Command("cp", "-a", data, old).CombinedOutput(); err != nil {
		o.t.Fatalf("%v: %s", err, out)
	}
	if err := o.pg.Restart(); err != nil {
		o.t.Fatal(err)
	}
	o.load(func() { o.goesOn("PostgreSQL started again") })
	o.pg.Kill()
	if err := errors.Join(os.RemoveAll(data), os.Rename(old, data), o.pg.Restart()); err != nil { // as a standby that lags behind
		o.t.Fatal(err)
	}
	o.settle(true)
	o.check()
	if faults := o.crowd.allFaults(); !strings.Contains(faults, "is lost") {
		o.t.Errorf("what PostgreSQL lost: got %q, want that it is lost", faults)
	}
}
