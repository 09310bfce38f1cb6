package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// exported parses the lines of an export.
func exported(t *testing.T, text string) []*store.Session {
	t.Helper()
	var all []*store.Session
	for line := range strings.Lines(text) {
		s := &store.Session{}
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(s); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		s.Normalize()
		all = append(all, s)
	}
	return all
}

// Everything that is known of sessions comes out of a plain and of an encrypted
// database as it went in, in the JSON of package screen.
func TestDBExportIsWhole(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "store.key")
	for _, key := range [][]string{nil, {"--store-key", keyFile}} {
		file := ""
		if key != nil {
			file = keyFile
		}
		path := clinicDB(t, file, clinicSessions())
		o := ok(t, append([]string{"db", "export", path, "--parts", "sessions,results,labels,features"}, key...)...)
		got := exported(t, o.stdout)
		slices.SortFunc(got, func(a, b *store.Session) int { return strings.Compare(a.ID, b.ID) })
		want := clinicSessions()
		for i := range want {
			want[i].Normalize()
		}
		if len(got) != len(want) || o.stderr != "" {
			t.Fatalf("got %d sessions and %q, want %d", len(got), o.stderr, len(want))
		}
		for i := range want {
			if a, b := fmt.Sprintf("%+v", *want[i]), fmt.Sprintf("%+v", *got[i]); !sameSession(want[i], got[i]) {
				t.Errorf("got\n%s\nwant\n%s", b, a)
			}
		}
		if again := ok(t, append([]string{"db", "export", path, "--parts", "sessions,results,labels,features"}, key...)...); again != o {
			t.Error("got another export the second time")
		}
	}
}

// sameSession compares sessions as their JSON, in which NaN equals NaN.
func sameSession(a, b *store.Session) bool {
	x, xerr := json.Marshal(a)
	y, yerr := json.Marshal(b)
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// Filters and parts choose sessions and what is written of them.
func TestDBExportChooses(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	for _, tt := range []struct {
		args string
		want string // identifiers
	}{
		{"", "s1 s2 s3 s4 s5"},
		{"--account clinic-a", "s1 s2 s3"},
		{"--account=", "s5"},
		{"--user patient-17", "s1 s2 s4"},
		{"--user patient-17 --account clinic-b", "s4"},
		{"--user nobody", ""},
		{"--since 2026-01-31", "s1 s2 s3 s4 s5"},
		{"--since 2026-01-31T13:00:00Z --until 2026-01-31T15:00:00Z", "s2 s3"},
		{"--since 2026-01-31T14:00:00+01:00 --until 2026-02-01", "s2 s3 s4 s5"},
		{"--until 2026-01-31", ""},
		{"--status failed", "s2"},
		{"--product deepfake", "s2"},
		{"--parts results", "s1 s2"},
		{"--parts labels", "s1"},
		{"--parts features", "s1"},
		{"--parts labels,results --account clinic-b", ""},
	} {
		o := ok(t, append([]string{"db", "export", path}, strings.Fields(tt.args)...)...)
		var ids []string
		for _, s := range exported(t, o.stdout) {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.args, got, tt.want)
		}
		rows := parseCSV(t, ok(t, append([]string{"db", "export", "--csv", path}, strings.Fields(tt.args)...)...).stdout)
		if len(rows)-1 != len(ids) {
			t.Errorf("%s: got %d rows, want a header and %d", tt.args, len(rows), len(ids))
		}
	}
	for args, member := range map[string][]string{
		"--parts sessions": {"account", "created_at", "id", "metadata", "product", "state", "submitted_at", "updated_at", "user_id"},
		"--parts results":  {"account", "created_at", "id", "product", "scores", "state", "updated_at", "user_id"},
		"--parts labels":   {"account", "created_at", "id", "labels", "product", "state", "updated_at", "user_id"},
	} {
		o := ok(t, append([]string{"db", "export", path, "--status", "success"}, strings.Fields(args)...)...)
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
			t.Fatal(err)
		}
		names := make([]string, 0, len(got))
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		if !slices.Equal(names, member) {
			t.Errorf("%s: got the members %q, want %q", args, names, member)
		}
	}
}

// The table has what the JSON has, and no formula.
func TestDBExportCSV(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	rows := parseCSV(t, ok(t, "db", "export", path, "--csv", "--parts", "sessions,results,labels,features").stdout)
	place := map[string]int{}
	for i := range rows {
		place[column(t, rows, i, "id")] = i
	}
	for id, fields := range map[string]map[string]string{
		"s1": {
			"account": "clinic-a", "user_id": "patient-17", "state": "success", "product": "depression_anxiety", "created_at": "2026-01-31T12:00:00Z",
			"age": "44", "gender": "Female", "zipcode": "01234", "language": "true", "weight": "", "fixed_gain": "false",
			"depression_probability": "0.25", "depression_low": "0.125", "depression_high": "", "depression_severity": "mild_to_moderate", "depression_prior": "0.08",
			"anxiety_severity": "no_or_minimal", "deepfake_probability": "", "error": "",
			"phq_9_total": "5", "phq_9_items": "1 0 2 1 0 1 0 0 0", "phq_2_total": "", "depression_binary": screen.InterviewPositive.String(), "labels_updated_at": "2026-01-31T12:01:00Z",
			"f0.mean_hz": "200.5", "f0.sd_st": "",
		},
		"s2": {"error": "no_speech_error", "error_message": "no speech", "depression_probability": "", "state": "failed"},
		"s3": {"user_id": "'=cmd|' /C calc'!A0", "product": "", "submitted_at": ""},
	} {
		for name, want := range fields {
			if got := column(t, rows, place[id], name); got != want {
				t.Errorf("%s, %s: got %q, want %q", id, name, got, want)
			}
		}
	}
}

// The file that -o names appears whole, for its owner only, and replaces nothing.
func TestDBExportToAFile(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	to := filepath.Join(t.TempDir(), "out.jsonl")
	o := ok(t, "db", "export", path, "-o", to)
	if want := to + ": 5 sessions\n"; o.stdout != want {
		t.Errorf("got %q, want %q", o.stdout, want)
	}
	if n := len(exported(t, string(read(t, to)))); n != 5 {
		t.Errorf("got %d sessions in the file, want 5", n)
	}
	if info, err := os.Stat(to); err != nil || os.PathSeparator == '/' && info.Mode() != 0o600 {
		t.Errorf("got mode %v and error %v, want 0600", info.Mode(), err)
	}
	before := read(t, path)
	for _, there := range []string{to, path, filepath.Dir(to)} {
		if o := cli(t, "db", "export", path, "-o", there); o.code != command.ExitError || !strings.Contains(o.stderr, "exists") {
			t.Errorf("%s: got %+v, want that it exists", there, o)
		}
	}
	if len(before) != len(read(t, path)) {
		t.Error("the database was replaced")
	}
	if o := cli(t, "db", "export", path, "-o", filepath.Join(filepath.Dir(to), "none", "out.csv")); o.code != command.ExitError || !strings.Contains(o.stderr, "no such file") {
		t.Errorf("got %+v, want that the folder is missing", o)
	}
	if list, err := os.ReadDir(filepath.Dir(to)); err != nil || len(list) != 1 {
		t.Errorf("got %v and error %v, want no other file beside it", list, err)
	}
}

// A damaged record is counted, and the others are written all the same. An interrupt
// leaves no file.
func TestDBExportOfADamagedDatabase(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	damageFirst(t, path)
	to := filepath.Join(t.TempDir(), "out.csv")
	o := cli(t, "db", "export", path, "--csv", "-o", to)
	if o.code != command.ExitError || !strings.Contains(o.stderr, "skipped: 1") || strings.Contains(o.stderr, "patient-17") {
		t.Errorf("got %+v, want that one record is damaged", o)
	}
	if rows := parseCSV(t, string(read(t, to))); len(rows) != 5 {
		t.Errorf("got %d rows, want a header and the other 4", len(rows))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to = filepath.Join(t.TempDir(), "out.csv")
	var stdout, stderr bytes.Buffer
	command.Run(ctx, newRoot(), []string{"db", "export", path, "-o", to}, strings.NewReader(""), &stdout, &stderr)
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v after an interrupt, want no file", err)
	}
}

// manySessions is a store of so many sessions that are made when they are read.
type manySessions struct{ n int }

func (m manySessions) Scan(_ context.Context, after string, limit int) ([]*store.Session, error) {
	i := 0
	if after != "" {
		if _, err := fmt.Sscanf(after, "%09d", &i); err != nil {
			return nil, err
		}
		i++
	}
	var list []*store.Session
	for ; i < m.n && len(list) < limit; i++ {
		s := *clinicSessions()[0]
		s.ID = fmt.Sprintf("%09d", i)
		list = append(list, &s)
	}
	return list, nil
}

// heapEvery is how many writes are between two looks at the heap.
const heapEvery = 5

// heapWriter notes the largest live heap while it is written to. A garbage collection
// comes before each look, so that how late the others are does not count.
type heapWriter struct {
	lines, writes int
	most          uint64
}

func (h *heapWriter) Write(b []byte) (int, error) {
	h.lines += bytes.Count(b, []byte("\n"))
	if h.writes++; h.writes%heapEvery == 0 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		h.most = max(h.most, m.HeapAlloc)
	}
	return len(b), nil
}

// The memory of an export and of a listing does not grow with the number of sessions.
func TestDBExportInBoundedMemory(t *testing.T) {
	const (
		n     = 15_000  // sessions, of more than 1 kB in JSON
		bound = 4 << 20 // live bytes more than before; all of them would be more than 15 MB
	)
	for _, o := range []exportOptions{{parts: []string{partSessions, partResults, partLabels}}, {parts: []string{partResults}, csv: true}} {
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		w := &heapWriter{}
		got, err := o.export(cmd, manySessions{n}, w)
		want := n
		if o.csv {
			want++
		}
		if err != nil || got != n || w.lines != want {
			t.Errorf("got %d sessions in %d lines and error %v, want %d", got, w.lines, err, n)
		}
		if w.writes < 10*heapEvery || w.most > before.HeapAlloc+bound {
			t.Errorf("got a heap of %d bytes in %d writes, want at most %d more than %d", w.most, w.writes, bound, before.HeapAlloc)
		}
	}
	newest := newestSessions{limit: 10}
	if err := (&sessionFilter{}).eachSession(t.Context(), manySessions{n}, newest.add); err != nil || newest.seen != n || cap(newest.list) > 64 {
		t.Errorf("got %d sessions seen, room for %d and error %v, want %d and room for 20", newest.seen, cap(newest.list), err, n)
	}
}

func TestDBTablesUsage(t *testing.T) {
	path := clinicDB(t, "", clinicSessions())
	for _, line := range []string{
		"list", "list PATH --limit 0", "list PATH --status done", "list PATH --product phq", "list PATH --since yesterday",
		"export", "export PATH --parts scores", "export PATH --parts=", "export PATH --until 31.1.2026",
		"export PATH --since 2026-02-01 --until 2026-02-01",
		"delete-user PATH --user patient-17", "delete-user PATH --account clinic-a", "delete-user PATH --account clinic-a --user=",
		"delete-user PATH --account clinic-a --user patient-17 --yes --audit-key k",
	} {
		o := cli(t, append([]string{"db"}, strings.Fields(strings.ReplaceAll(line, "PATH", path))...)...)
		if o.code != command.ExitUsage || o.stdout != "" || !strings.Contains(o.stderr, "--help") || strings.Contains(o.stderr, "patient-17") {
			t.Errorf("%s: got %+v, want a usage error", line, o)
		}
	}
	for _, line := range []string{"list", "export", "delete-user --account a --user u --yes"} {
		none := filepath.Join(t.TempDir(), "none.db")
		o := cli(t, append([]string{"db"}, append(strings.Fields(line), none)...)...)
		if _, err := os.Stat(none); o.code != command.ExitError || !strings.Contains(o.stderr, "no such file") || err == nil {
			t.Errorf("%s: got %+v, want that there is no such database", line, o)
		}
	}
}

// Every column of a table stands in the help of its command, those of "analyze" in
// the README too.
func TestTablesAreDocumented(t *testing.T) {
	readme := string(read(t, "../../README.md"))
	export := exportOptions{parts: []string{partSessions, partResults, partLabels}}
	for line, head := range map[string]csvRow{"analyze": analysisHeader(), "features": featuresHeader()[:2], "db export": export.header()} {
		help := ok(t, append(strings.Fields(line), "--help")...).stdout
		for _, name := range head {
			for _, c := range scoredCategories {
				if suffix, is := strings.CutPrefix(name, c.String()); is && name != "depression_binary" {
					name = suffix
				}
			}
			if line == "db export" && strings.HasPrefix(name, "_") {
				continue // "as in analyze --csv"
			}
			if !strings.Contains(help, name) {
				t.Errorf("%s: the help lacks the column %s", line, name)
			}
			if line == "analyze" && !strings.Contains(readme, "`"+name+"`") {
				t.Errorf("README.md lacks the column %s of %s", name, line)
			}
		}
	}
}
