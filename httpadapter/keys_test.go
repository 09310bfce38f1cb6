package httpadapter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

func newKeyFile(t testing.TB) (*httpadapter.Keys, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	k, err := httpadapter.CreateKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func mustCreate(t testing.TB, k *httpadapter.Keys, account string, scopes ...httpadapter.Scope) string {
	t.Helper()
	key, err := k.Create(account, scopes...)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyForm(t *testing.T) {
	k, path := newKeyFile(t)
	key := mustCreate(t, k, "clinic")
	if !regexp.MustCompile(`^vk_[0-9a-f]{16}_[0-9a-f]{64}$`).MatchString(key) {
		t.Errorf("got key of %d bytes, want vk_, 16 and 64 hexadecimal digits", len(key))
	}
	info, ok := k.Lookup(key)
	if !ok || info.Account != "clinic" || info.ID != key[3:19] {
		t.Fatalf("got %+v %v, want the key of the account clinic", info, ok)
	}
	if !slices.Equal(info.Scopes, httpadapter.DefaultScopes()) || info.Allows(httpadapter.ScopeAdmin) || !info.Allows(httpadapter.ScopeRead) {
		t.Errorf("got scopes %v, want all but admin", info.Scopes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if secret := key[20:]; bytes.Contains(data, []byte(secret)) {
		t.Error("the file holds the secret, want only its SHA-256")
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("got mode %v %v, want a file for its owner alone", st.Mode(), err)
	}
	if other := mustCreate(t, k, "clinic"); other == key {
		t.Error("two keys are the same")
	}
}

func TestLookupRefuses(t *testing.T) {
	k, _ := newKeyFile(t)
	key := mustCreate(t, k, "clinic")
	last := "0"
	if strings.HasSuffix(key, "0") {
		last = "1"
	}
	for name, bad := range map[string]string{
		"empty":          "",
		"other prefix":   "xx" + key[2:],
		"wrong secret":   key[:len(key)-1] + last,
		"unknown id":     "vk_0000000000000000" + key[19:],
		"short":          key[:len(key)-1],
		"long":           key + "0",
		"upper case":     strings.ToUpper(key),
		"id alone":       key[:20],
		"no separator":   key[:19] + "x" + key[20:],
		"trailing space": key + " ",
	} {
		if info, ok := k.Lookup(bad); ok || info.Account != "" {
			t.Errorf("%s: got %+v %v, want nothing", name, info, ok)
		}
	}
}

func TestKeyExpiryAndRevocation(t *testing.T) {
	k, _ := newKeyFile(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	httpadapter.SetNow(k, func() time.Time { return now })
	key, err := k.CreateUntil(now.Add(time.Hour), "clinic", httpadapter.ScopeRead, httpadapter.ScopeAdmin, httpadapter.ScopeRead)
	if err != nil {
		t.Fatal(err)
	}
	info, ok := k.Lookup(key)
	if !ok || !slices.Equal(info.Scopes, []httpadapter.Scope{httpadapter.ScopeRead, httpadapter.ScopeAdmin}) {
		t.Errorf("got %v %v, want the scopes read and admin", info.Scopes, ok)
	}
	now = now.Add(time.Hour)
	if _, ok := k.Lookup(key); ok {
		t.Error("an expired key is valid")
	}
	if _, err := k.CreateUntil(now, "clinic"); err == nil {
		t.Error("a key was made that has expired")
	}
	a, b, c := mustCreate(t, k, "clinic"), mustCreate(t, k, "clinic"), mustCreate(t, k, "other")
	if err := k.Revoke(a[3:19]); err != nil {
		t.Fatal(err)
	}
	if _, ok := k.Lookup(a); ok {
		t.Error("a revoked key is valid")
	}
	if _, ok := k.Lookup(b); !ok {
		t.Error("revoking one key ended another")
	}
	if err := k.Revoke("0000000000000000"); !errors.Is(err, httpadapter.ErrNoKey) {
		t.Errorf("got %v, want ErrNoKey", err)
	}
	if n, err := k.RevokeAccount("clinic"); n != 1 || err != nil {
		t.Errorf("got %d %v, want 1 key revoked", n, err)
	}
	if _, ok := k.Lookup(c); !ok {
		t.Error("revoking an account ended the key of another")
	}
	if err := k.Revoke(c); err != nil { // by the key itself
		t.Error(err)
	}
	list, err := k.List()
	if err != nil || len(list) != 4 {
		t.Fatalf("got %d keys %v, want 4", len(list), err)
	}
	for _, key := range list {
		if key.Live(now) {
			t.Errorf("key of %s is live, want none", key.Account)
		}
	}
}

func TestKeysInMemory(t *testing.T) {
	k := httpadapter.NewKeys()
	key := mustCreate(t, k, "dev", httpadapter.ScopeRead)
	if _, ok := k.Lookup(key); !ok {
		t.Error("the key is unknown")
	}
	if err := k.Revoke(key); err != nil || k.Check() != nil {
		t.Errorf("got %v %v, want no error", err, k.Check())
	}
	if _, ok := k.Lookup(key); ok {
		t.Error("a revoked key is valid")
	}
}

func TestCreateRefuses(t *testing.T) {
	k := httpadapter.NewKeys()
	for _, account := range []string{"", " ", "a b", "a\nb", "ä", strings.Repeat("a", 65), "-a"} {
		if _, err := k.Create(account); err == nil {
			t.Errorf("account %q was accepted", account)
		}
	}
	if _, err := k.Create("a", httpadapter.Scope(99)); err == nil {
		t.Error("an unknown scope was accepted")
	}
}

// A running server takes changes of other processes up within a second. The clock is
// that of a bubble: a busy machine does not make it late.
func TestKeysOfAnotherProcess(t *testing.T) { synctest.Test(t, keysOfAnotherProcess) }

func keysOfAnotherProcess(t *testing.T) {
	server, path := newKeyFile(t)
	other, err := httpadapter.OpenKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	key := mustCreate(t, other, "clinic")
	afterASecond(t, "the new key is valid", func() bool { _, ok := server.Lookup(key); return ok })
	if err := other.Revoke(key); err != nil {
		t.Fatal(err)
	}
	afterASecond(t, "the revoked key is invalid", func() bool { _, ok := server.Lookup(key); return !ok })

	// A broken file keeps the last keys, and Check says so.
	key = mustCreate(t, other, "clinic")
	afterASecond(t, "the new key is valid", func() bool { _, ok := server.Lookup(key); return ok })
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.Check(); err == nil {
		t.Error("Check accepts a broken file")
	}
	if _, ok := server.Lookup(key); !ok {
		t.Error("a broken file ended a key")
	}
	if _, err := server.Create("clinic"); err == nil {
		t.Error("a broken file was overwritten")
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.Check(); err != nil {
		t.Errorf("got %v, want the repaired file read", err)
	}
}

// afterASecond waits a second of the bubble's clock.
func afterASecond(t *testing.T, what string, holds func() bool) {
	t.Helper()
	time.Sleep(time.Second)
	if !holds() {
		t.Fatalf("after a second it does not hold that %s", what)
	}
}

func within(t *testing.T, d time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v it does not hold that %s", d, what)
		}
	}
}

// Changes at the same time do not lose each other.
func TestKeysConcurrentChanges(t *testing.T) {
	_, path := newKeyFile(t)
	const processes, each = 4, 5
	var wg sync.WaitGroup
	made := make(chan string, processes*each)
	for range processes {
		wg.Go(func() {
			k, err := httpadapter.OpenKeys(path)
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				key, err := k.Create("clinic")
				if err != nil {
					t.Error(err)
				}
				made <- key
			}
		})
	}
	wg.Wait()
	close(made)
	k, err := httpadapter.OpenKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	for key := range made {
		if _, ok := k.Lookup(key); !ok {
			t.Error("a key was lost")
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("got files %v %v, want the keys and the lock", files, err)
	}
}

func TestOpenKeysRefuses(t *testing.T) {
	if _, err := httpadapter.OpenKeys(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	id, sum := strings.Repeat("ab", 8), strings.Repeat("cd", 32)
	record := `{"id":"` + id + `","account":"a","scopes":["read"],"created_at":"2026-01-02T03:04:05Z","sha256":"` + sum + `"}`
	file := func(records string) string { return `{"format":"voicescreen-keys/1","keys":[` + records + `]}` }
	good := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(good, []byte(file(record)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := httpadapter.OpenKeys(good); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":          "",
		"no JSON":        "hello",
		"null":           "null",
		"other format":   strings.Replace(file(record), "keys/1", "keys/2", 1),
		"no format":      `{"keys":[]}`,
		"no keys":        `{"format":"voicescreen-keys/1"}`,
		"no scopes":      file(strings.Replace(record, `"scopes":["read"],`, "", 1)),
		"null scopes":    file(strings.Replace(record, `["read"]`, "null", 1)),
		"no creation":    file(strings.Replace(record, `"created_at":"2026-01-02T03:04:05Z",`, "", 1)),
		"no sum":         file(strings.Replace(record, `,"sha256":"`+sum+`"`, "", 1)),
		"unknown field":  `{"format":"voicescreen-keys/1","keys":[],"more":1}`,
		"cut short":      file(record)[:50],
		"more behind":    file(record) + "{}",
		"null record":    file("null"),
		"twice the same": file(record + "," + record),
		"short id":       file(strings.Replace(record, id, id[2:], 1)),
		"short sum":      file(strings.Replace(record, sum, sum[2:], 1)),
		"no hexadecimal": file(strings.Replace(record, "cd", "xy", 1)),
		"unknown scope":  file(strings.Replace(record, "read", "root", 1)),
		"no account":     file(strings.Replace(record, `"a"`, `""`, 1)),
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := httpadapter.OpenKeys(path)
		if err == nil {
			t.Errorf("%s: was accepted", name)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want the file named", name, err)
		}
	}
}

func TestScopeText(t *testing.T) {
	for s := httpadapter.ScopeInitiate; s <= httpadapter.ScopeAdmin; s++ {
		text, err := json.Marshal(s)
		var back httpadapter.Scope
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != s {
			t.Errorf("%v: got %v %v back from %s", s, back, err, text)
		}
	}
	if _, err := json.Marshal(httpadapter.Scope(0)); err == nil {
		t.Error("scope 0 was written")
	}
	if _, err := httpadapter.ParseScope("root"); err == nil {
		t.Error("an unknown scope was read")
	}
}

func BenchmarkLookup(b *testing.B) {
	k, err := httpadapter.CreateKeys(filepath.Join(b.TempDir(), "keys.json"))
	if err != nil {
		b.Fatal(err)
	}
	key, err := k.Create("clinic")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := k.Lookup(key); !ok {
			b.Fatal("unknown")
		}
	}
}
