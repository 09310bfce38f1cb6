package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

func TestKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	o := ok(t, "keys", "create", "--keys", file, "--account", "clinic-a")
	key := strings.TrimSuffix(o.stdout, "\n")
	if key == "" || strings.ContainsAny(key, " \n") || strings.Contains(o.stderr, key) {
		t.Fatalf("got %+v, want the key alone on standard output", o)
	}
	reader := strings.TrimSpace(ok(t, "keys", "create", "--keys", file, "--account", "clinic-b", "--scopes", "read,submit", "--expires", "1h").stdout)

	keys, err := httpadapter.OpenKeys(file)
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := keys.Lookup(key); !ok || k.Account != "clinic-a" || !k.Allows(httpadapter.ScopeFeedback) || k.Allows(httpadapter.ScopeAdmin) {
		t.Errorf("got %+v, %t, want a key of clinic-a with the default scopes", k, ok)
	}
	if k, ok := keys.Lookup(reader); !ok || k.Allows(httpadapter.ScopeInitiate) || k.ExpiresAt.IsZero() {
		t.Errorf("got %+v, %t, want a key that reads and expires", k, ok)
	}

	list := ok(t, "keys", "list", "--keys", file).stdout
	for _, want := range []string{"clinic-a", "clinic-b", "valid", "submit,read"} {
		if !strings.Contains(list, want) {
			t.Errorf("got list\n%s, want %s in it", list, want)
		}
	}
	if strings.Contains(list, key) || strings.Contains(list, reader) {
		t.Error("the list holds a key")
	}
	if one := ok(t, "keys", "list", "--keys", file, "--account", "clinic-b").stdout; strings.Contains(one, "clinic-a") {
		t.Errorf("got list\n%s, want only clinic-b", one)
	}

	ok(t, "keys", "revoke", "--keys", file, "--account", "clinic-a")
	id := strings.Split(reader, "_")[1]
	ok(t, "keys", "revoke", "--keys", file, "--id", id)
	if list := ok(t, "keys", "list", "--keys", file).stdout; strings.Count(list, "revoked") != 2 {
		t.Errorf("got list\n%s, want both revoked", list)
	}
}

func TestKeysErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys.json")
	if o := cli(t, "keys", "list", "--keys", file); o.code != command.ExitError || !strings.Contains(o.stderr, "keys create") {
		t.Errorf("no file: got %+v, want to be told how to make one", o)
	}
	ok(t, "keys", "create", "--keys", file, "--account", "a")
	for name, args := range map[string][]string{
		"unknown account": {"revoke", "--keys", file, "--account", "b"},
		"unknown ID":      {"revoke", "--keys", file, "--id", "0000000000000000"},
		"not a key file":  {"list", "--keys", short},
		"no directory":    {"create", "--keys", filepath.Join(dir, "none", "keys.json"), "--account", "a"},
	} {
		o := cli(t, append([]string{"keys"}, args...)...)
		if o.code != command.ExitError || o.stderr == "" || o.stdout != "" {
			t.Errorf("%s: got %+v, want an error", name, o)
		}
	}
	for name, args := range map[string][]string{
		"bad account name": {"--account", "a b"},
		"no scope":         {"--account", "a", "--scopes", ""},
		"no time":          {"--account", "a", "--expires", "0s"},
		"negative time":    {"--account", "a", "--expires", "-1h"},
	} {
		o := cli(t, append([]string{"keys", "create", "--keys", file}, args...)...)
		if o.code != command.ExitUsage || o.stdout != "" {
			t.Errorf("%s: got %+v, want a usage error", name, o)
		}
	}
}
