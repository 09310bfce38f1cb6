package train

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Recordings through a channel of another program have figures of their own, and change
// no other.
func TestFiguresThroughAnotherChannel(t *testing.T) {
	t.Parallel()
	tr := markedTrainer()
	for i := range tr.train { // the channel takes the mark away
		v := slices.Clone(tr.vectors[i][0][0].Values)
		for k := range 8 {
			v[50+k] = 0
		}
		tr.through = append(tr.through, []features.Vector{{Schema: tr.schema, Values: v}})
	}
	n := runNested(t, tr)
	through, err := n.figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := marked()
	if err != nil {
		t.Fatal(err)
	}
	of := func(figures []models.Metric) map[string]float64 {
		out := map[string]float64{}
		for _, m := range figures {
			out[m.Name+" "+m.Split] = m.Value
		}
		return out
	}
	with, without := of(through), of(plain.figures)
	if got := with["auc nested, "+throughSplit]; !(math.Abs(got-0.5) < 0.2) {
		t.Errorf("got an AUC of %v through the channel, want one half", got)
	}
	found := 0
	for name, v := range with {
		if strings.Contains(name, throughSplit) {
			found++
		} else if without[name] != v {
			t.Errorf("%s: got %v, want %v as without the channel", name, v, without[name])
		}
	}
	if found < 12 { // six figures, and six of systems since 2023
		t.Errorf("got %d figures through the channel, want 12 and more", found)
	}
	losses := n.losses()
	if len(losses) != 2 {
		t.Errorf("got %d losses, want one of each channel", len(losses))
	}
	for _, m := range losses {
		want := with["eer "+m.Split] - with["eer "+through[0].Split] // the first is of recordings as they are
		const rounding = 2e-4                                        // of three figures of 4 decimals
		if math.Abs(m.Value-want) > rounding || !(m.Low <= m.Value && m.Value <= m.High) {
			t.Errorf("%s of %s: got %v (%v to %v), want %v", m.Name, m.Split, m.Value, m.Low, m.High, want)
		}
		if strings.HasSuffix(m.Split, throughSplit) != (m.Low > 0.2) {
			t.Errorf("%s of %s: got %v and more, want more than 0.2 through the channel that takes the mark away alone", m.Name, m.Split, m.Low)
		}
	}
	all := n.scored(plainLogit)
	if m := n.lost(all, all, "no channel"); len(m) != 1 || m[0].Low != 0 || m[0].High != 0 {
		t.Errorf("no channel: got %+v, want 0 exactly", m)
	}
}

func TestThroughNamesTheRecording(t *testing.T) {
	rows := testRows(4)
	tr, err := newTrainer(screen.Deepfake, rows, &Options{Decode: voiceOf, Through: func(string) ([]float64, int, error) { return nil, 0, errors.New("is not there") }})
	if err != nil {
		t.Fatal(err)
	}
	tr.nested = true
	if err := tr.read(t.Context()); err == nil || !strings.Contains(err.Error(), "is not there, after a channel") || !strings.Contains(err.Error(), ".wav") {
		t.Errorf("got %v, want an error that names the recording", err)
	}
}
