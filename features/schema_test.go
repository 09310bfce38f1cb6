package features_test

import (
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
)

// TestVoiceSchemaIsFixed holds every name, unit and position of voice/1:
// stored vectors and model files depend on them.
func TestVoiceSchemaIsFixed(t *testing.T) {
	golden, err := os.ReadFile("testdata/voice-1.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := features.VoiceSchema()
	if s.Name() != "voice/1" {
		t.Errorf("got schema %q, want voice/1", s.Name())
	}
	var got strings.Builder
	for i := range s.Len() {
		name, unit := s.Feature(i)
		got.WriteString(strings.TrimSpace(name+" "+unit) + "\n")
		if s.Index(name) != i {
			t.Errorf("Index(%q): got %d, want %d", name, s.Index(name), i)
		}
	}
	if got.String() != string(golden) {
		t.Errorf("voice/1 differs from testdata/voice-1.txt; got\n%s", got.String())
	}
	if i := s.Index("no.such"); i != -1 {
		t.Errorf("Index of an unknown feature: got %d, want -1", i)
	}
}

func TestVectorGetPanicsOnUnknownFeature(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	s := features.VoiceSchema()
	features.Vector{Schema: s, Values: make([]float64, s.Len())}.Get("no.such")
}
