//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/voicescreen/voicescreen/internal/command"
)

// Every flag of serve has a variable: a wrong value names it, or it is at least no
// unknown one.
func TestEveryServeFlagHasAVariable(t *testing.T) {
	n := 0
	everyFlag(func(cmd *cobra.Command, f *pflag.Flag) {
		if cmd.CommandPath() != "voicescreen serve" || f.Name == "help" {
			return
		}
		n++
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if f.Name == "store-key" || f.Name == "audit-key" {
			name += "_FILE"
		}
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "zzz")
			o := cli(t, "serve", "--addr=nowhere") // ends with a usage error in any case
			named := strings.Contains(o.stderr, name)
			if text := strings.HasPrefix(f.Value.Type(), "string"); o.code == 0 || !text && !named || strings.Contains(o.stderr, "not known") {
				t.Errorf("got code %d, %q, want the variable to be known", o.code, o.stderr)
			}
		})
	})
	if n < 20 {
		t.Errorf("got %d flags of serve, want all", n)
	}
}

// A container's server: its settings from the environment and a file, its log in
// JSON, an encrypted database, and no line for each poll.
func TestServeFromEnvironmentAndFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, []byte(text))
		return path
	}
	db, keyFile := filepath.Join(dir, "clinic.db"), filepath.Join(dir, "keys.json")
	t.Setenv("VOICESCREEN_DB", db)
	t.Setenv("VOICESCREEN_KEYS", keyFile)
	t.Setenv("VOICESCREEN_STORE_KEY_FILE", file("store.key", strings.Repeat("c3", secretSize)))
	t.Setenv("VOICESCREEN_CONFIG", file("serve.json", "{\n\"retain\": \"30d\",\n\"max-upload\": 1,\n\"db\": \"other.db\",\n\"log\": \"json\"\n}"))
	t.Setenv("VOICESCREEN_RETIAN", "30d")
	s := startServer(t) // before there is a key
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, interview), http.StatusRequestEntityTooLarge) // max-upload
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	s.call("GET", "/healthz", "", "", nil, http.StatusOK)
	s.stop()
	if strings.Contains(string(read(t, db)), "patient-31") {
		t.Error("the database is not encrypted")
	}
	log, messages := s.stderr.String(), ""
	for line := range strings.Lines(log) {
		var entry struct{ Level, Msg, Route string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "DEBUG" || entry.Route == "GET healthz" {
			t.Errorf("got line %q, %v, want JSON and no health check", line, err)
		}
		messages += entry.Msg + "\n"
	}
	for _, want := range []string{"no key is valid yet\n", `VOICESCREEN_RETIAN is not known and has no effect, did you mean "VOICESCREEN_RETAIN"?` + "\n"} {
		if strings.Count(messages, want) != 1 {
			t.Errorf("got log %s, want %q once", log, want)
		}
	}
	if n := strings.Count(log, "GET predict/sessions/*"); n != 1 {
		t.Errorf("got %d lines about results, want 1: that of the result\n%s", n, log)
	}
}

// What ends a server is a line of its log in JSON.
func TestServeFailsInJSON(t *testing.T) {
	dir := t.TempDir()
	o := cli(t, "serve", "--log=json", "--addr=127.0.0.1:0", "--db", filepath.Join(dir, "no", "clinic.db"), "--keys", filepath.Join(dir, "keys.json"))
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	var last struct{ Level, Error string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || o.code != command.ExitError || last.Level != "ERROR" || !strings.Contains(last.Error, "no such file") {
		t.Errorf("got %+v, %v, want an error in JSON", o, err)
	}
}

func TestServeLogFlags(t *testing.T) {
	for line, want := range map[string]string{
		"serve --dev --log xml":        `--log is "xml", want text or json`,
		"serve --dev --log-level loud": `--log-level is "loud", want debug, info, warn or error`,
	} {
		if o := cli(t, strings.Fields(line)...); o.code != command.ExitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: got %+v, want %q", line, o, want)
		}
	}
	t.Setenv("VOICESCREEN_RETAIN", "1h")
	if o := cli(t, "serve", "--dev"); o.code != command.ExitUsage || !strings.Contains(o.stderr, "(--retain is from VOICESCREEN_RETAIN)") {
		t.Errorf("got %+v, want the variable to be named", o)
	}
}
