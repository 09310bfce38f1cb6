package document_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// numbers is the format of the test documents: a decimal number.
var numbers = durable.Format[int]{
	Parse:    func(data []byte) (int, error) { return strconv.Atoi(string(data)) },
	Text:     func(n int) ([]byte, error) { return []byte(strconv.Itoa(n)), nil },
	MaxBytes: 8,
}

func open(t *testing.T, st store.Store) *document.Document[int] {
	t.Helper()
	d, err := document.Open(t.Context(), st, "number", -1, numbers)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func increase(n int) (int, error) { return n + 1, nil }

func TestADocumentThatWasNeverPutIsEmpty(t *testing.T) {
	d := open(t, memory.New(nil))
	if got, err := d.Read(); got != -1 || err != nil {
		t.Errorf("got %d, %v, want -1", got, err)
	}
}

// TestReplicasSeeAChangeWithinASecond has the clock of a bubble: a busy machine does not
// make it late.
func TestReplicasSeeAChangeWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(nil)
		one, other := open(t, st), open(t, st)
		if err := one.Change(increase); err != nil {
			t.Fatal(err)
		}
		if got := one.Get(); got != 0 {
			t.Errorf("got %d from the replica that changed it, want 0", got)
		}
		time.Sleep(time.Second)
		if got := other.Get(); got != 0 {
			t.Errorf("got %d after a second, want 0", got)
		}
	})
}

func TestNoConcurrentChangeIsLost(t *testing.T) {
	const replicas, changes = 4, 50
	st := memory.New(nil)
	var all sync.WaitGroup
	for range replicas {
		d := open(t, st)
		all.Go(func() {
			for range changes {
				if err := d.Change(increase); err != nil {
					t.Error(err)
				}
				d.Get()
			}
		})
	}
	all.Wait()
	if got, err := open(t, st).Read(); got != replicas*changes-1 || err != nil {
		t.Errorf("got %d, %v, want %d", got, err, replicas*changes-1)
	}
}

func TestARefusedChangeChangesNothing(t *testing.T) {
	d := open(t, memory.New(nil))
	refused := errors.New("refused")
	if err := d.Change(func(int) (int, error) { return 7, refused }); err != refused {
		t.Errorf("got %v, want the error as it is", err)
	}
	if got, err := d.Read(); got != -1 || err != nil {
		t.Errorf("got %d, %v, want -1", got, err)
	}
}

func TestADocumentThatCannotBeReadKeepsTheFormerValue(t *testing.T) {
	for name, data := range map[string]string{"malformed": "seven", "too large": "123456789"} {
		st := memory.New(nil)
		d := open(t, st)
		if err := d.Change(increase); err != nil {
			t.Fatal(err)
		}
		_, revision, err := st.Document(t.Context(), "number")
		if err == nil {
			_, err = st.PutDocument(t.Context(), "number", revision, []byte(data))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Read(); err == nil {
			t.Errorf("%s: got no error", name)
		}
		if got := d.Get(); got != 0 || d.Err() == nil {
			t.Errorf("%s: got %d, error %v, want the former value 0 and an error", name, got, d.Err())
		}
		if _, err := document.Open(context.Background(), st, "number", -1, numbers); err == nil {
			t.Errorf("%s: got no error when it is opened", name)
		}
	}
}
