//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesThatOthersCanReadAreWarnedOf(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	ok(t, "keys", "create", "--keys", in("keys.json"), "--account", "a")
	ok(t, "webhooks", "set", "--webhooks", in("hooks.json"), "--account", "a", "--url", "https://1.1.1.1/hook")
	write(t, in("store.key"), []byte(strings.Repeat("c3", secretSize)))
	write(t, in("audit.key"), []byte(strings.Repeat("c3", secretSize)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	serve := []string{"serve", "--addr", "127.0.0.1:0", "--db", in("clinic.db"), "--keys", in("keys.json"), "--webhooks", in("hooks.json"),
		"--store-key", in("store.key"), "--audit", in("audit.log"), "--audit-key", in("audit.key")}
	for _, c := range []struct {
		args  []string
		files []string
	}{
		{serve, []string{"keys.json", "hooks.json", "store.key", "audit.key"}},
		{[]string{"keys", "list", "--keys", in("keys.json")}, []string{"keys.json"}},
		{[]string{"webhooks", "list", "--webhooks", in("hooks.json")}, []string{"hooks.json"}},
		{[]string{"db", "check", in("clinic.db"), "--store-key", in("store.key")}, []string{"store.key"}},
		{[]string{"audit", "verify", in("audit.log"), "--audit-key", in("audit.key")}, []string{"audit.key"}},
	} {
		for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o620: true} {
			for _, name := range c.files {
				if err := os.Chmod(in(name), mode); err != nil {
					t.Fatal(err)
				}
			}
			ctx := t.Context()
			if c.args[0] == "serve" {
				ctx = ended // it starts and ends
			}
			o := cliContext(t, ctx, "", c.args...)
			for _, name := range c.files {
				if got := strings.Contains(o.stderr, in(name)) && strings.Contains(o.stderr, "chmod 600"); got != warned {
					t.Errorf("%v with %s of mode %o: got %+v, want a warning: %v", c.args, name, mode, o, warned)
				}
			}
			if strings.Contains(o.stderr, "c3c3c3c3") {
				t.Errorf("%v: a warning holds a key", c.args)
			}
		}
	}
}
