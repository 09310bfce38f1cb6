package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestDBList(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	o := ok(t, "db", "list", path)
	lines := strings.Split(strings.TrimRight(o.stdout, "\n"), "\n")
	var got [][]string
	for _, line := range lines {
		got = append(got, strings.Fields(line))
	}
	if len(lines) != 6 || o.stderr != "" {
		t.Fatalf("got %+v, want a heading and five sessions", o)
	}
	if want := []string{"CREATED", "STATE", "PRODUCT", "SESSION", "ACCOUNT", "USER", "LABELS"}; !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %q, want %q", got[0], want)
	}
	for i, id := range []string{"s5", "s4", "s3", "s2", "s1"} { // the newest first
		if got[1+i][4] != id {
			t.Errorf("line %d: got session %q, want %q", 1+i, got[1+i][4], id)
		}
	}
	if want := []string{"2026-01-31", "12:00:00", "success", "depression_anxiety", "s1", "clinic-a", "patient-17", "phq_9", "depression_binary"}; !reflect.DeepEqual(got[5], want) {
		t.Errorf("got %q, want %q", got[5], want)
	}
	if strings.Contains(o.stdout, "\x1b") || strings.Contains(o.stdout, "0.25") {
		t.Errorf("got %q, want no control characters and no score", o.stdout)
	}
	o = ok(t, "db", "list", path, "--account", "clinic-a", "--user", "patient-17", "--limit", "1")
	if strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stdout, "s2") || !strings.Contains(o.stderr, "the newest 1 of 2 sessions") {
		t.Errorf("got %+v, want the newest of two", o)
	}
	damageFirst(t, path)
	if o := cli(t, "db", "list", path); o.code != command.ExitError || strings.Count(o.stdout, "\n") != 5 || !strings.Contains(o.stderr, "skipped: 1") {
		t.Errorf("got %+v, want the four other sessions and that one is damaged", o)
	}
}
