package webhook_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// The example of a notice in the OpenAPI document is a notice as it is sent.
func TestExampleOfANotice(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	r := newReceiver(t)
	if err := r.sender.Send(t.Context(), notice()); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(r.requests()[0].body, &got); err != nil {
		t.Fatal(err)
	}
	want := doc.Components.Schemas["SessionCompleted"].Value.Examples
	if len(want) != 1 || !reflect.DeepEqual(got, want[0]) {
		t.Errorf("got notice %v, want the example %v", got, want)
	}
}
