package webhook_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/store/memory"
)

// TestReplicasShareTheEndpointsOfTheirStore has the clock of a bubble: a busy machine does
// not make it late.
func TestReplicasShareTheEndpointsOfTheirStore(t *testing.T) {
	synctest.Test(t, replicasShareTheEndpoints)
}

func replicasShareTheEndpoints(t *testing.T) {
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
	time.Sleep(time.Second)
	if got := other.Accounts(); !slices.Equal(got, []string{"clinic"}) {
		t.Errorf("got accounts %v after a second, want clinic", got)
	}
	again, err := webhook.Stored(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := again.List(); err != nil || len(list) != 1 || list[0].URL != urlA || list[0].Secrets != 1 {
		t.Errorf("got %v, %v, want the endpoint of clinic", list, err)
	}
}
