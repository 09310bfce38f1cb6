package webhook_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/store/memory"
)

func TestReplicasShareTheEndpointsOfTheirStore(t *testing.T) {
	st := memory.New(nil)
	one, err := webhook.Stored(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	other, err := webhook.Stored(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	mustSet(t, one, "clinic", urlA)
	for end := time.Now().Add(time.Second); !slices.Equal(other.Accounts(), []string{"clinic"}); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got accounts %v after a second, want clinic", other.Accounts())
		}
	}
	again, err := webhook.Stored(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := again.List(); err != nil || len(list) != 1 || list[0].URL != urlA || list[0].Secrets != 1 {
		t.Errorf("got %v, %v, want the endpoint of clinic", list, err)
	}
}
