package report

import "testing"

func TestOfHundred(t *testing.T) {
	for p, want := range map[float64]string{0: "0", 1: "100", 0.05: "5", 0.004: "0.4", 0.00004: "0.004", 0.5: "50", 0.4999: "49.99", 0.497: "49.7", 0.996: "99.6", 0.735: "74"} {
		if got := ofHundred(p); got != want {
			t.Errorf("%v: got %s, want %s", p, got, want)
		}
	}
}
