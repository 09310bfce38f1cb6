package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/client"
)

// Faults of the service and the line, and what the client makes of them.
func TestRetries(t *testing.T) {
	ctx := context.Background()
	s := newService(t, -1)
	c := s.client(t)
	id := ""
	begin := func() { id = initiate(t, c) }
	submitted := func() {
		begin()
		if err := c.Submit(ctx, id, recording(t, interview), nil); err != nil {
			t.Fatal(err)
		}
	}
	submit := func() error { return c.Submit(ctx, id, recording(t, interview), nil) }
	open := func() error {
		_, err := c.Initiate(ctx, client.InitiateRequest{UserID: "p1", Consent: true})
		return err
	}
	result := func() error { _, err := c.Result(ctx, id); return err }
	label := func() error { return c.PHQ2(ctx, id, [2]int{1, 2}) }
	erase := func() error { return c.DeleteSession(ctx, id) }
	const lost = -1 // an error of the line
	for name, test := range map[string]struct {
		before   func()
		call     func() error
		faults   []fault
		requests int
		want     int // status of the error, 0 for none
	}{
		"a question":                      {begin, result, []fault{dropBefore, broken, busy}, 4, 0},
		"a question, no end":              {begin, result, []fault{broken, broken, broken, broken}, 4, 500},
		"a question, long away":           {begin, result, []fault{away}, 1, 503},
		"feedback":                        {submitted, label, []fault{dropAfter, broken}, 3, 0},
		"a session, busy":                 {begin, open, []fault{busy, limited}, 3, 0},
		"a session, lost":                 {begin, open, []fault{dropAfter}, 1, lost},
		"a session, broken":               {begin, open, []fault{broken}, 1, 500},
		"a submission, lost before":       {begin, submit, []fault{dropBefore, dropBefore}, 3, 0},
		"a submission, lost after":        {begin, submit, []fault{dropAfter}, 3, 0}, // the third asks for the result
		"a submission, busy":              {begin, submit, []fault{busy}, 2, 0},
		"a submission, broken":            {begin, submit, []fault{broken}, 1, 500},
		"a submission, lost, no end":      {begin, submit, []fault{dropBefore, dropBefore, dropBefore, dropBefore}, 4, lost},
		"a second submission":             {submitted, submit, nil, 1, 409},
		"a second submission, busy":       {submitted, submit, []fault{limited}, 2, 409},
		"erasure, lost after":             {submitted, erase, []fault{dropAfter}, 2, 0},
		"erasure, lost before":            {submitted, erase, []fault{dropBefore}, 2, 0},
		"erasure, broken after":           {submitted, erase, []fault{brokenAfter}, 2, 0},
		"erasure, busy, broken after":     {submitted, erase, []fault{busy, brokenAfter, limited}, 4, 0},
		"erasure of what was never there": {func() { id = "none" }, erase, []fault{busy, limited}, 3, 404},
	} {
		t.Run(name, func(t *testing.T) {
			test.before()
			requests := s.with(test.faults...)
			err := test.call()
			got := status(err)
			if err != nil && got == 0 {
				got = lost
			}
			if got != test.want || requests() != test.requests {
				t.Errorf("got %v after %d requests, want %d after %d", err, requests(), test.want, test.requests)
			}
		})
	}
}

// The pause is never shorter than the service asks for.
func TestRetryAfter(t *testing.T) {
	s := newService(t, -1)
	c := s.client(t)
	s.with(soon)
	begin := time.Now()
	initiate(t, c)
	if took := time.Since(begin); took < time.Second {
		t.Errorf("got the second attempt after %v, want 1 s", took)
	}
	s.with(soon)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Result(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error instead of the pause", err)
	}
}

// Where nobody listens, every call is tried again, as nothing was sent.
func TestNoConnection(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	tries := 0
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { tries++; return nil, nil }}
	c, err := client.New(server.URL, "vk_key", &client.Options{Pause: time.Millisecond, Attempts: 3, HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Initiate(context.Background(), client.InitiateRequest{UserID: "patient-17", Consent: true})
	if err == nil || tries != 3 || strings.Contains(err.Error(), "vk_key") {
		t.Errorf("got %v after %d attempts, want an error after 3", err, tries)
	}
	_, _, err = c.Results(context.Background(), "patient-17", client.Page{})
	if err == nil || strings.Contains(err.Error(), "patient-17") {
		t.Errorf("got %v, want an error without the person", err)
	}
}
