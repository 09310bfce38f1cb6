//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/store/bolt"
)

const (
	// envKills says how often servers are killed in all.
	envKills     = "VOICESCREEN_TEST_KILLS"
	defaultKills = 20

	// siegeKills is how often the server of one database is killed. Chosen: to
	// look at all of a store takes as long as the store is large, and each new
	// one may be killed while it is made.
	siegeKills = 25

	// A server in four is killed within longestStart of its start, the others
	// within longestLife of when they listen, so that a slow machine kills as
	// many at work as a fast one. Chosen: the first is how long an idle machine
	// takes to start one, in the second each client makes some fifty calls.
	longestStart = 200 * time.Millisecond
	longestLife  = 600 * time.Millisecond

	visitors = 4 // at once, and one whose uploads never end
)

// siege is a server that is killed again and again, and its clients.
type siege struct {
	t        *testing.T
	program  string
	env      []string // of the server, beside that of the test
	dir      string
	storeKey []byte
	args     []string
	rnd      *rand.Rand
	visitors []*visitor
	faults   []string // that the clients did not see
}

func newSiege(t *testing.T, program string, storeKey []byte, seed uint64) *siege {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	s := &siege{t: t, program: program, dir: dir, storeKey: storeKey, rnd: rand.New(rand.NewPCG(seed, uint64(len(storeKey))))}
	s.args = []string{"serve", "--addr", "127.0.0.1:0", "--db", file("clinic.db"), "--keys", file("keys.json"),
		"--audit", file("audit.log"), "--webhooks", file("webhooks.json"), "--retain", "720h"}
	if storeKey != nil {
		if err := os.WriteFile(file("store.key"), fmt.Appendf(nil, "%x\n", storeKey), 0o600); err != nil {
			t.Fatal(err)
		}
		s.args = append(s.args, "--store-key", file("store.key"))
	}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", file("keys.json"), "--account", "clinic-a", "--scopes", "initiate,submit,read,feedback,admin").stdout)
	ok(t, "webhooks", "set", "--webhooks", file("webhooks.json"), "--account", "clinic-a", "--url", "https://localhost/none",
		"--webhook-allow-private", "127.0.0.0/8") // is not called: to the server it is not public
	speech := read(t, short)
	recordings := [][]byte{clip(speech, 0.5), clip(speech, 2.5)} // a failure and a result
	for i := range visitors + 1 {
		s.visitors = append(s.visitors, &visitor{
			name: fmt.Sprintf("patient-%d", i), key: key, recordings: recordings, stalls: i == visitors,
			rnd: rand.New(rand.NewPCG(seed, uint64(i+1))), acknowledged: map[string]int{},
		})
	}
	return s
}

func (s *siege) db() string { return filepath.Join(s.dir, "clinic.db") }

func (s *siege) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// live starts the server and lets the clients work until it is killed, or, if
// it is the last, until they are done. Then the server ends.
func (s *siege) live(last bool) {
	cmd := exec.Command(s.program, s.args...)
	cmd.Env = append(os.Environ(), s.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer cmd.Process.Kill()
	killWithin := func(most time.Duration) {
		time.AfterFunc(time.Duration(s.rnd.Int64N(int64(most))), func() { cmd.Process.Kill() })
	}
	early := !last && s.rnd.IntN(4) == 0
	if early {
		killWithin(longestStart)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	base, listens := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err == nil && listens {
		s.begun()
		if !last && !early {
			killWithin(longestLife)
		}
		var all sync.WaitGroup
		for _, v := range s.visitors {
			v.base = base
			all.Go(func() {
				if last {
					v.finish(s.t.Context())
				} else {
					v.work(s.t.Context())
				}
			})
		}
		all.Wait()
	}
	if last {
		if entries, err := os.ReadDir(s.db() + ".audio"); len(entries) > 0 || err != nil {
			s.fault("%d audio files (%v) are there when all have their results", len(entries), err)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); last && err != nil || errors.As(err, &exit) && exit.Exited() {
		s.fault("the server ended with %v: %s", err, stderr.String())
	}
}

// begun looks at what must hold when a server listens and nobody has called.
func (s *siege) begun() {
	if parts, err := filepath.Glob(s.db() + ".audio/*.part"); len(parts) > 0 || err != nil {
		s.fault("%d unfinished audio files (%v) are left after the start", len(parts), err)
	}
	if _, err := audit.Verify([]string{filepath.Join(s.dir, "audit.log")}, nil); err != nil {
		s.fault("the audit log: %v", err)
	}
}

// check looks at all of the database while nobody has it open.
func (s *siege) check() {
	if _, err := os.Stat(s.db()); errors.Is(err, fs.ErrNotExist) {
		return // the server was killed before it made one
	}
	c, err := bolt.Check(s.t.Context(), s.db(), &bolt.Options{Key: s.storeKey}, func(fault string) error {
		s.fault("%s", fault)
		return nil
	})
	if err != nil {
		s.fault("%v", err)
	}
	if entries, err := os.ReadDir(s.db() + ".audio"); err != nil || len(entries) != c.Audio {
		s.fault("%d audio files (%v), want %d", len(entries), err, c.Audio)
	}
}

// run kills the server n times and lets it then finish. It stops early when
// something is wrong, and returns what.
func (s *siege) run(n int) (faults []string) {
	for kill := range n {
		s.live(false)
		if s.rnd.IntN(2) == 0 {
			s.check() // not always: it does what else the start of the server does
		}
		for _, f := range s.allFaults() {
			faults = append(faults, fmt.Sprintf("kill %d: %s", kill+1, f))
		}
		if len(faults) > 0 {
			return faults
		}
	}
	s.live(true)
	s.check()
	return s.allFaults()
}

func (s *siege) allFaults() []string {
	all := s.faults
	for _, v := range s.visitors {
		all = append(all, v.faults...)
	}
	return all
}

// finish looks at all sessions until each has what it is to have.
func (v *visitor) finish(ctx context.Context) {
	v.http = &http.Client{}
	defer v.http.CloseIdleConnections()
	end := time.Now().Add(resultTime)
	for _, s := range v.visits {
		for {
			if v.look(ctx, s) != nil {
				v.faults = append(v.faults, "the server does not answer")
				return
			}
			if s.gone || !s.submitted || s.result != "" {
				break
			}
			if time.Now().After(end) {
				v.faults = append(v.faults, fmt.Sprintf("session %s: no result after %v", s.id, resultTime))
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestWhatIsAcknowledgedSurvivesKills kills servers under load, half of them of
// encrypted databases: nothing that was acknowledged is lost, nothing erased
// comes back, each recording that was accepted gets one result that never
// changes, the database is whole and no audio is left.
func TestWhatIsAcknowledgedSurvivesKills(t *testing.T) {
	t.Parallel()
	kills := cost.Sized(defaultKills, 12)
	if text := os.Getenv(envKills); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, key := range map[string][]byte{"plain": nil, "encrypted": bytes.Repeat([]byte{0xc3}, bolt.KeySize)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total, done, losses := map[string]int{}, 0, 0
			little := func() bool { return total["submit"] < kills/2 || total["result"] < kills/4 }
			for seed := uint64(1); done < kills/2 || little() && done < 2*kills; seed++ { // a busy machine acknowledges less before each kill
				s := newSiege(t, built, key, seed)
				n := min(siegeKills, max(kills/2-done, kills/8))
				for _, fault := range s.run(n) {
					losses++
					t.Errorf("database %d: %s", seed, fault)
				}
				done += n
				for _, v := range s.visitors {
					v.count(total)
				}
			}
			summary, _ := json.Marshal(total) // numbers by name
			t.Logf("%d kills, acknowledged %s: %d faults", done, summary, losses)
			if little() {
				t.Errorf("too little was acknowledged to show anything")
			}
		})
	}
}

// count adds what was acknowledged.
func (v *visitor) count(total map[string]int) {
	for what, n := range v.acknowledged {
		total[what] += n
	}
	for _, s := range v.visits {
		switch {
		case strings.Contains(s.result, "internal_error"): // killed in each of three attempts
			total["given up"]++
		case s.result != "":
			total["result"]++
		}
	}
}
