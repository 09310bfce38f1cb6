//go:build unix

package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter/client"
	"github.com/voicescreen/voicescreen/screen"
)

// The Go client's flow with the program, that ends and starts again between
// the submission and the result.
func TestServeClient(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), resultTime)
	defer cancel()
	dir := t.TempDir()
	args := []string{"--db", filepath.Join(dir, "clinic.db"), "--keys", filepath.Join(dir, "keys.json")}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", args[3], "--account", "clinic-a").stdout)
	s := startServer(t, args...)
	c, err := client.New(s.base, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Initiate(ctx, client.InitiateRequest{UserID: "patient-24", Consent: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(short)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := c.Submit(ctx, id, f, &client.SubmitOptions{Product: screen.DeepfakeBinary}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = startServer(t, args...)
	if c, err = client.New(s.base, key, nil); err != nil {
		t.Fatal(err)
	}
	r, err := c.Wait(ctx, id)
	if err != nil || r.Status != screen.StatusSuccess || r.Risk == nil || *r.Risk < 0 || *r.Risk > 100 {
		t.Errorf("got %+v %v, want a risk from 0 to 100", r, err)
	}
	s.stop()
}

// With --rate a key has so many calls, and is told so.
func TestServeRate(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--db", filepath.Join(dir, "clinic.db"), "--keys", filepath.Join(dir, "keys.json"), "--rate", "0.001", "--burst", "2"}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", args[3], "--account", "clinic-a").stdout)
	s := startServer(t, args...)
	c, err := client.New(s.base, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		_, _, err := c.Results(t.Context(), "patient-25", client.Page{})
		var e *client.Error
		if i < 2 && err != nil || i == 2 && (!errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.RetryAfter == 0) {
			t.Errorf("call %d: got %v, want a 429 from the third on", i+1, err)
		}
	}
	s.stop()
}
