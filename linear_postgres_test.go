package voicescreen_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/voicescreen/voicescreen/store/postgres"
)

var linearPostgresRuns = flag.Int("linear.postgres", 1, "how many histories are checked on PostgreSQL")

// TestLinearizableOnPostgreSQL checks histories of clients that call three
// engines, each on a store of its own in one database, as replicas are. The clocks
// of two of them are an hour off.
func TestLinearizableOnPostgreSQL(t *testing.T) {
	s := postgresServer(t)
	for run := range *linearPostgresRuns {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			c := &concurrent{t: t, began: time.Now(), users: map[string]string{}, made: map[string]int64{}, history: map[string][]porcupine.Operation{}, clocks: wrongClocks}
			name := fmt.Sprintf("history_%d_%d", os.Getpid(), run)
			if _, err := s.SQL(t.Context(), "postgres", "CREATE DATABASE "+name); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				st, err := postgres.Open(t.Context(), s.URL(name), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				})
				c.st = st
				if plant := concurrentFaults[*fault]; plant != nil {
					c.st = plant(st)
				}
				c.stores = append(c.stores, c.st)
			}
			c.run(*linearOps, rand.New(rand.NewPCG(7, uint64(run))))
			c.check()
		})
	}
}

func TestFaultsAreFoundOnPostgreSQL(t *testing.T) {
	if *fault != "" {
		return // this is a process that looks for one
	}
	s := postgresServer(t)
	for _, name := range slices.Sorted(maps.Keys(concurrentFaults)) {
		t.Run(name, func(t *testing.T) {
			wantFault(t, "TestLinearizableOnPostgreSQL", name, "-postgres="+s.Dir, "-linear.ops=250", "-linear.postgres=12")
		})
	}
}
