package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A document that differs from those that are refused in their faults only is accepted.
func TestRenderAccepts(t *testing.T) {
	const document = `{"tags":[{"name":"a"}],"paths":{"/x/{id}":{"get":{"operationId":"x","tags":["a"],
		"parameters":[{"name":"id","in":"path","schema":{},"example":"1"}],"requestBody":{"content":{"application/json":{"schema":{"examples":[{"n": 1}]}}}},
		"responses":{"200":{"content":{"application/json":{"schema":{"examples":[["a"]]}}}}}}},
		"/y":{"get":{"operationId":"y","x-same-as":"x","tags":["a"],"responses":{"200":{}}}}}}`
	page, err := render([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-d &#39;{&#34;n&#34;:1}&#39; $BASE/v2/x/1</pre>", "Answer 200:", `<li id="y">`} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("got\n%s\nwant %q in it", page, want)
		}
	}
}

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
		"no JSON":                     "hello",
		"paths are a list":            `{"paths":[]}`,
		"no operation":                `{"tags":[{"name":"a"}],"paths":{"/x":{"get":[]}}}`,
		"no example of a request":     `{"tags":[{"name":"a"}],"paths":{"/x":{"post":{"tags":["a"],"requestBody":{"content":{"application/json":{"schema":{}}}},"responses":{"200":{}}}}}}`,
		"no example of an answer":     `{"tags":[{"name":"a"}],"paths":{"/x":{"get":{"tags":["a"],"responses":{"200":{"content":{"application/json":{"schema":{}}}}}}}}}`,
		"no example of an identifier": `{"tags":[{"name":"a"}],"paths":{"/x/{id}":{"get":{"tags":["a"],"parameters":[{"name":"id","in":"path","schema":{}}],"responses":{"200":{}}}}}}`,
		"errors only":                 `{"tags":[{"name":"a"}],"paths":{"/x":{"get":{"tags":["a"],"responses":{"404":{}}}}}}`,
		"the same as no other":        `{"tags":[{"name":"a"}],"paths":{"/x":{"get":{"tags":["a"],"x-same-as":"y","responses":{"200":{}}}}}}`,
		"unknown type":                `{"components":{"schemas":{"a":{"type":1}}}}`,
		"parameters are one":          `{"tags":[{"name":"a"}],"paths":{"/x":{"parameters":{}}}}`,
	} {
		if page, err := render([]byte(document)); err == nil {
			t.Errorf("%s: got a page of %d bytes, want an error", name, len(page))
		}
	}
}
