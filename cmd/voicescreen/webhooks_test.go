package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestWebhooks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "webhooks.json")
	o := ok(t, "webhooks", "set", "--webhooks", file, "--account", "clinic-a", "--url", "https://a.example/hook")
	secret := strings.TrimSuffix(o.stdout, "\n")
	if !strings.HasPrefix(secret, "whsec_") || strings.Contains(o.stderr, secret) {
		t.Fatalf("got %+v, want the secret alone on standard output", o)
	}
	if o := ok(t, "webhooks", "set", "--webhooks", file, "--account", "clinic-a", "--url", "https://a.example/other"); o.stdout != "" {
		t.Errorf("another address: got %+v, want the secret as it is", o)
	}
	if o := ok(t, "webhooks", "rotate", "--webhooks", file, "--account", "clinic-a"); !strings.HasPrefix(o.stdout, "whsec_") || strings.TrimSpace(o.stdout) == secret {
		t.Errorf("rotate: got %+v, want another secret", o)
	}
	list := ok(t, "webhooks", "list", "--webhooks", file).stdout
	if !strings.Contains(list, "clinic-a  active  2 ") || !strings.Contains(list, "https://a.example/other") || strings.Contains(list, "whsec") {
		t.Errorf("got list\n%s, want the account with two secrets, and not these", list)
	}
	ok(t, "webhooks", "remove", "--webhooks", file, "--account", "clinic-a")
	if list := ok(t, "webhooks", "list", "--webhooks", file).stdout; strings.Contains(list, "clinic-a") {
		t.Errorf("got list\n%s, want none", list)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got mode %v and error %v, want a file of the owner alone", info.Mode(), err)
	}
}

func TestWebhooksErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "webhooks.json")
	for _, name := range []string{"list", "rotate --account a", "remove --account a"} {
		args := append([]string{"webhooks"}, strings.Fields(name)...)
		if o := cli(t, append(args, "--webhooks", file)...); o.code != command.ExitError || !strings.Contains(o.stderr, "webhooks set") {
			t.Errorf("%s without a file: got %+v, want to be told how to make one", name, o)
		}
	}
	ok(t, "webhooks", "set", "--webhooks", file, "--account", "a", "--url", "https://a.example/hook")
	for name, args := range map[string][]string{
		"unknown account": {"rotate", "--webhooks", file, "--account", "b"},
		"nobody":          {"remove", "--webhooks", file, "--account", "b"},
		"not such a file": {"list", "--webhooks", short},
	} {
		o := cli(t, append([]string{"webhooks"}, args...)...)
		if o.code != command.ExitError || o.stderr == "" || o.stdout != "" || strings.Contains(o.stderr, "canary") {
			t.Errorf("%s: got %+v, want an error", name, o)
		}
	}
	for _, url := range []string{"http://a.example/canary", "https://192.168.1.1/canary", "canary"} {
		o := cli(t, "webhooks", "set", "--webhooks", file, "--account", "a", "--url", url)
		if o.code != command.ExitUsage || o.stdout != "" || strings.Contains(o.stderr, "canary") {
			t.Errorf("%s: got %+v, want a usage error", url, o)
		}
	}
}
