package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The page in the repository is the one that the generator makes of the
// document in the repository.
func TestStoredPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "docs.html")
	if err := run([]string{"../../openapi.json", page}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs.html")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs.html has %d bytes and is not the page of openapi.json with %d bytes: run go generate ./httpadapter", len(got), len(want))
	}
}

func TestRenderRefuses(t *testing.T) {
	for name, document := range map[string]string{
		"no JSON":            "hello",
		"paths are a list":   `{"paths":[]}`,
		"no operation":       `{"tags":[{"name":"a"}],"paths":{"/x":{"get":[]}}}`,
		"unknown type":       `{"components":{"schemas":{"a":{"type":1}}}}`,
		"parameters are one": `{"tags":[{"name":"a"}],"paths":{"/x":{"parameters":{}}}}`,
	} {
		if page, err := render([]byte(document)); err == nil {
			t.Errorf("%s: got a page of %d bytes, want an error", name, len(page))
		}
	}
}
