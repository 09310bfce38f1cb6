package bolt

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
)

func TestRekey(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 2)
	next := bytes.Repeat([]byte{9}, KeySize)
	for name, err := range map[string]error{
		"the wrong key":    Rekey(path, next, testKey),
		"a short new key":  Rekey(path, testKey, next[1:]),
		"no former key":    Rekey(path, nil, next),
		"no new key":       Rekey(path, testKey, nil),
		"a plain database": Rekey(shutPath(t), nil, next),
	} {
		if !errors.Is(err, ErrKey) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrKey)
		}
	}
	if err := Rekey(path, testKey, next); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, &Options{Key: testKey}); !errors.Is(err, ErrKey) {
		t.Errorf("the former key: got error %v, want %v", err, ErrKey)
	}
	if err := Rekey(path, next, testKey); err != nil {
		t.Fatal(err)
	}
	if n := outcome(t, "after two changes", path, sessions); n != 0 {
		t.Errorf("got %d faults", n)
	}
}

func shutPath(t *testing.T) string {
	st := opened(t)
	shut(t, st)
	return st.path
}

// TestAStoreOpensAfterAnInterruptedRekey interrupts Rekey between the bytes that it
// writes.
func TestAStoreOpensAfterAnInterruptedRekey(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 1)
	next := bytes.Repeat([]byte{9}, KeySize)
	before := read(t, path+suffixSlots)
	if err := Rekey(path, testKey, next); err != nil {
		t.Fatal(err)
	}
	after := read(t, path+suffixSlots)
	slots := before[slotsAt:]
	for n := 0; n < 2*headerSize; n += 5 { // chosen: every fifth byte takes a fifth of the time
		at, torn := n, bytes.Clone(before[:slotsAt])
		if copied := n - headerSize; copied >= 0 {
			copy(torn, after[:headerPage])
			at = headerPage + copied
		}
		copy(torn[:at], after)
		write(t, path+suffixSlots, append(torn, slots...))
		st, err := Open(path, &Options{Key: testKey})
		if errors.Is(err, ErrKey) {
			st, err = Open(path, &Options{Key: next})
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		if _, err := st.Get(t.Context(), sessions[0].Account, sessions[0].ID); err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		shut(t, st)
	}
}

// TestARepairDoesNotWriteToTheIntactHeader damages either copy of the header. Open repairs
// it, and a failed repair leaves the other copy as it was.
func TestARepairDoesNotWriteToTheIntactHeader(t *testing.T) {
	t.Parallel()
	for damaged := range int64(2) {
		path, sessions := filled(t, 1)
		whole := read(t, path+suffixSlots)
		broken := bytes.Clone(whole)
		clear(broken[damaged*headerPage:][:headerSize])
		write(t, path+suffixSlots, broken)
		var file slotFile
		if err := file.open(path); err != nil {
			t.Fatal(err)
		}
		if _, _, other, err := readHeaders(file.f, testKey); other != damaged || err != nil {
			t.Errorf("got copy %d damaged and error %v, want %d", other, err, damaged)
		}
		file.writeAt = func(p []byte, off int64) (int, error) {
			n, _ := file.f.WriteAt(make([]byte, len(p)), off)
			return n, syscall.EIO
		}
		if err := file.repairHeader(damaged); !errors.Is(err, syscall.EIO) {
			t.Errorf("copy %d: got error %v, want %v", damaged, err, syscall.EIO)
		}
		if err := file.f.Close(); err != nil {
			t.Fatal(err)
		}
		if n := outcome(t, "repaired", path, sessions); n != 0 {
			t.Errorf("copy %d: got %d faults", damaged, n)
		}
		if got := read(t, path+suffixSlots); !bytes.Equal(got[:slotsAt], whole[:slotsAt]) {
			t.Errorf("copy %d: the header is not as it was", damaged)
		}
	}
}
