package command

import (
	"testing"

	"github.com/voicescreen/voicescreen"
)

// TestBaseRatesReachDAM checks that the base rates are options of DAM, which the engine
// does not set.
func TestBaseRatesReachDAM(t *testing.T) {
	var f ScoringFlags
	f.rates = []string{"anxiety=0.3", "depression=0.2"}
	var o voicescreen.ScoringOptions
	if err := f.Set(&o); err != nil {
		t.Fatal(err)
	}
	if got := damOptions(o.BaseRates); got.Depression != 0.2 || got.Anxiety != 0.3 {
		t.Errorf("got %+v, want 0.2 and 0.3", got)
	}
	if got := damOptions(nil); got.Depression != 0 || got.Anxiety != 0 {
		t.Errorf("got %+v, want the model's own", got)
	}
}
