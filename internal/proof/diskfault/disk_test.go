package diskfault

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// states simulates 200 power failures, and returns how often each content of a file
// results. The content "-" stands for a missing file.
func states(t *testing.T, d *Disk, name string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for seed := range uint64(200) {
		dir := t.TempDir()
		if err := d.Fail(dir, rand.New(rand.NewPCG(seed, 0))); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			b, err = []byte("-"), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		found[string(b)]++
	}
	return found
}

// syncNow applies the beginning and the end of a sync.
func (d *Disk) syncNow(number int) {
	c := &Call{Kind: Sync, File: number}
	d.Apply(Step{c, true})
	d.Apply(Step{c, false})
}

func apply(d *Disk, calls ...*Call) {
	for _, c := range calls {
		d.Apply(Step{Call: c})
	}
}

func TestOnlySyncedChangesAreDurable(t *testing.T) {
	d := NewDisk()
	create := &Call{Kind: Create, Name: "a", File: 1}
	apply(d, create, &Call{Kind: Write, File: 1, Data: []byte("old")})
	if got := states(t, d, "a"); got["-"] == 0 || got["old"] == 0 || got[""] == 0 || len(got) != 3 {
		t.Errorf("before any sync: got %v, want no file, an empty one and a whole one", got)
	}
	d.syncNow(1)
	if got := states(t, d, "a"); got["-"] == 0 || got["old"] == 0 || len(got) != 2 {
		t.Errorf("after the sync of the file: got %v, want no file, or a whole one", got)
	}
	d.syncNow(rootDir)
	if got := states(t, d, "a"); got["old"] != 200 {
		t.Errorf("after the sync of the directory: got %v, want the file", got)
	}
	late := &Call{Kind: Sync, File: 1}
	d.Apply(Step{late, true})
	apply(d, &Call{Kind: Write, File: 1, Data: []byte("new")})
	d.Apply(Step{late, false})
	if got := states(t, d, "a"); got["old"] == 0 || got["new"] == 0 || len(got) != 2 {
		t.Errorf("after a sync that began before the write: got %v, want either", got)
	}
	apply(d, &Call{Kind: Rename, Name: "a", To: "b", File: 1})
	if got := states(t, d, "b"); got["-"] == 0 || len(got) != 3 {
		t.Errorf("after a rename: got %v, want either and no file", got)
	}
}

func TestWritesAreTornBySectors(t *testing.T) {
	d := NewDisk()
	apply(d, &Call{Kind: Create, Name: "a", File: 1}, &Call{Kind: Write, File: 1, Data: make([]byte, 1024)})
	d.syncNow(1)
	d.syncNow(rootDir)
	apply(d, &Call{Kind: Write, File: 1, Offset: 256, Data: []byte(strings.Repeat("x", 768))})
	got := states(t, d, "a")
	for _, c := range [][2]int{{0, 0}, {256, 0}, {0, 512}, {256, 512}} {
		want := strings.Repeat("\x00", 256) + strings.Repeat(fill(c[0] > 0), 256) + strings.Repeat(fill(c[1] > 0), 512)
		if got[want] == 0 {
			t.Errorf("no failure left %d bytes of the first sector and %d of the second", c[0], c[1])
		}
	}
	if len(got) != 4 {
		t.Errorf("got %d states, want 4: a sector is never torn", len(got))
	}
}

func fill(written bool) string {
	if written {
		return "x"
	}
	return "\x00"
}

func TestALaterSyncDoesNotRetryAFailedOne(t *testing.T) {
	for _, retries := range []bool{false, true} {
		d := NewDisk()
		d.Retries = retries
		apply(d, &Call{Kind: Create, Name: "a", File: 1}, &Call{Kind: Write, File: 1, Data: []byte("x")})
		d.syncNow(rootDir)
		failed := &Call{Kind: Sync, File: 1, Failed: true}
		d.Apply(Step{failed, true})
		d.Apply(Step{failed, false})
		d.syncNow(1)
		want := map[bool]string{false: "", true: "x"}[retries]
		if got := states(t, d, "a"); got[want] != 200 {
			t.Errorf("Retries %v: got %v, want %q", retries, got, want)
		}
	}
}
