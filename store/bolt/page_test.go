package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// envFaults, if not empty, makes each call fail with each error and damages each page in
// each way. Otherwise the tests choose one of each.
const envFaults = "VOICESCREEN_TEST_FAULTS"

// TestADamagedPageIsNeverAWrongAnswer destroys each page of a database in turn, with
// zeros, random bytes, or the content of the page before. Then the store is refused, or
// calls fail, or their results are right. Without the later one of the two meta pages a
// store is as before the last commit. After any other page is restored all sessions can be
// read: opening a damaged store destroys no key.
func TestADamagedPageIsNeverAWrongAnswer(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "encrypted": testKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.db")
			opts := &bolt.Options{Key: key}
			st, err := bolt.Open(path, opts)
			if err != nil {
				t.Fatal(err)
			}
			sessions := cost.Sized(30, 10)
			for i := range sessions {
				if err := st.Create(t.Context(), result(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			keys, keysErr := os.ReadFile(path + ".keyslots")
			if err != nil || keysErr != nil && key != nil {
				t.Fatal(err, keysErr)
			}
			rnd := rand.New(rand.NewPCG(1, 1))
			size, outcomes := os.Getpagesize(), map[string]int{}
			for at := 0; at < len(whole); at += size {
				for kind := range 3 {
					if os.Getenv(envFaults) == "" && at > 2*size && kind != at/size%3 {
						continue
					}
					damaged := append([]byte(nil), whole...)
					for i := range size {
						damaged[at+i] = [...]byte{0, byte(rnd.Uint32()), damaged[max(at-size, 0)+i]}[kind]
					}
					if err := os.WriteFile(path, damaged, 0o600); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path+".keyslots", keys, 0o600); err != nil {
						t.Fatal(err)
					}
					outcome, err := readDamaged(t.Context(), path, opts, sessions)
					if err != nil {
						t.Errorf("page %d, kind %d: %v", at/size, kind, err)
					}
					outcomes[outcome]++
					if outcome == "not found" { // the store is as before the last commit, and continues from there
						continue
					}
					if err := os.WriteFile(path, whole, 0o600); err != nil {
						t.Fatal(err)
					}
					if again, err := readDamaged(t.Context(), path, opts, sessions); again != "right" || err != nil {
						t.Fatalf("page %d, kind %d: was %s; after the page was restored: %s (%v)", at/size, kind, outcome, again, err)
					}
				}
			}
			t.Logf("%d pages: %v", len(whole)/size, outcomes)
			if outcomes["refused"] == 0 || outcomes["error"] == 0 {
				t.Errorf("got outcomes %v, want stores that are refused and calls that fail among them", outcomes)
			}
		})
	}
}

// readDamaged reads all sessions of a store. It returns an error if one is wrong.
func readDamaged(ctx context.Context, path string, opts *bolt.Options, n int) (outcome string, err error) {
	st, err := bolt.Open(path, opts)
	if err != nil {
		return "refused", nil
	}
	outcome = "right"
	for i := range n {
		want := result(i)
		got, err := st.Get(ctx, want.Account, want.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			outcome = "not found"
		case err != nil:
			outcome = "error"
		case !reflect.DeepEqual(got, want.Clone()):
			return "wrong", errors.Join(fmt.Errorf("session %s is another one", want.ID), st.Close())
		}
	}
	if _, err := st.List(ctx, "clinic", "patient", nil, n); err != nil {
		outcome = "error"
	}
	_ = st.Ping(ctx) // may fail
	_ = st.Close()
	return outcome, nil
}
