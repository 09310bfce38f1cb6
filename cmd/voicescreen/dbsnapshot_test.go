package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// lockedWriter tries to open a database at each write.
type lockedWriter struct {
	path string
	errs []error
	bytes.Buffer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	st, err := bolt.Open(w.path, &bolt.Options{LockTimeout: -1})
	if err == nil {
		err = st.Close()
	}
	w.errs = append(w.errs, err)
	return w.Buffer.Write(b)
}

// No writer gets at the database until the last session is exported, so that an
// export is of one moment.
func TestDBExportIsOfOneMoment(t *testing.T) {
	sessions := clinicSessions()
	sessions[0].Features = map[string]float64{}
	for _, name := range featuresHeader()[2:] {
		sessions[0].Features[name] = 1
	}
	for i := range 100 { // more than one write
		s := *sessions[0]
		s.ID += strings.Repeat("x", i+1)
		sessions = append(sessions, &s)
	}
	w := &lockedWriter{path: clinicDB(t, "", sessions)}
	var stderr bytes.Buffer
	code := command.Run(t.Context(), newRoot(), []string{"db", "export", w.path, "--parts", "sessions,features"}, strings.NewReader(""), w, &stderr)
	if n := len(exported(t, w.String())); code != 0 || n != len(sessions) || len(w.errs) < 2 {
		t.Fatalf("got code %d, %q, %d sessions in %d writes, want %d in several", code, &stderr, n, len(w.errs), len(sessions))
	}
	for _, err := range w.errs {
		if !errors.Is(err, bolt.ErrLocked) {
			t.Errorf("got %v while it is exported, want that the database is in use", err)
		}
	}
}
