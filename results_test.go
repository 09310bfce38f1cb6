package voicescreen

import (
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

func TestCursorRoundTrip(t *testing.T) {
	for _, c := range []store.Cursor{
		{CreatedAt: time.Unix(0, 0).UTC(), ID: "a"},
		{CreatedAt: time.Date(2026, 2, 28, 23, 59, 59, 999999999, time.UTC), ID: newID()},
		{CreatedAt: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), ID: strings.Repeat("\xff", screen.MaxID)},
		{CreatedAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), ID: "../../etc"},
	} {
		got, err := parseCursor(formatCursor(c))
		if err != nil || !got.CreatedAt.Equal(c.CreatedAt) || got.ID != c.ID {
			t.Errorf("got %+v, %v, want %+v", got, err, c)
		}
	}
}

func TestCursorOfAnotherFormIsRefused(t *testing.T) {
	good := formatCursor(store.Cursor{CreatedAt: time.Unix(1, 0), ID: "session"})
	for name, s := range map[string]string{
		"padded":        good + "=",
		"cut":           good[:len(good)-1],
		"line break":    good[:4] + "\n" + good[4:],
		"other version": "Ag" + good[2:],
		"no ID":         formatCursor(store.Cursor{CreatedAt: time.Unix(1, 0)}),
		"long ID":       formatCursor(store.Cursor{CreatedAt: time.Unix(1, 0), ID: strings.Repeat("a", screen.MaxID+1)}),
		"year 10000":    formatCursor(store.Cursor{CreatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), ID: "a"}),
		"spaces":        "   ",
		"not base 64":   "!!!!",
	} {
		if c, err := parseCursor(s); err == nil {
			t.Errorf("%s: got %+v, want an error", name, c)
		}
	}
}

// FuzzCursor looks for a text that is read and is not what would be written.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(formatCursor(store.Cursor{CreatedAt: time.Unix(1772366400, 5), ID: "session"}))
	f.Add("AQAAAAAAAAAAAAAAAGE")
	f.Fuzz(func(t *testing.T, s string) {
		var c *store.Cursor
		var err error
		cost.Check(t, len(s), func() { c, err = parseCursor(s) })
		if err != nil || s == "" {
			if c != nil {
				t.Errorf("%q: got %+v beside an error", s, c)
			}
			return
		}
		if back := formatCursor(*c); back != s {
			t.Errorf("%q is read as %+v, which is written %q", s, c, back)
		}
		if len(c.ID) == 0 || len(c.ID) > screen.MaxID {
			t.Errorf("%q: got an ID of %d bytes", s, len(c.ID))
		}
	})
}
