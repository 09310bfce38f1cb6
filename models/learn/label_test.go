package learn

import (
	"errors"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() (Label, error)
		want [4]float64
	}{
		{"PHQ-9 of 0", func() (Label, error) { return ScoreLabel(PHQ9, make([]int, 9)) }, [4]float64{1, 0, 0, 0}},
		{"PHQ-9 of 9", func() (Label, error) { return ScoreLabel(PHQ9, []int{1, 1, 1, 1, 1, 1, 1, 1, 1}) }, [4]float64{0, 1, 0, 0}},
		{"PHQ-9 of 10", func() (Label, error) { return ScoreLabel(PHQ9, []int{2, 1, 1, 1, 1, 1, 1, 1, 1}) }, [4]float64{0, 0, 1, 0}},
		{"GAD-7 of 15", func() (Label, error) { return ScoreLabel(GAD7, []int{3, 2, 2, 2, 2, 2, 2}) }, [4]float64{0, 0, 0, 1}},
		{"PHQ-2 of 0", func() (Label, error) { return PHQ2Label([]int{0, 0}) }, [4]float64{0.78, 0.78, 0.14, 0.14}},
		{"PHQ-2 of 2", func() (Label, error) { return PHQ2Label([]int{0, 2}) }, [4]float64{0.14, 0.14, 0.25, 0.25}},
		{"PHQ-2 of 6", func() (Label, error) { return PHQ2Label([]int{3, 3}) }, [4]float64{0.08, 0.08, 0.61, 0.61}},
		{"an interview", func() (Label, error) { return InterviewLabel(true), nil }, [4]float64{0, 0, 1, 1}},
	} {
		if got, err := c.make(); err != nil || got.Likelihood != c.want {
			t.Errorf("%s: got %v and error %v, want %v", c.name, got.Likelihood, err, c.want)
		}
	}
	for name, bad := range map[string]func() (Label, error){
		"items":   func() (Label, error) { return ScoreLabel(PHQ9, make([]int, 7)) },
		"is 4":    func() (Label, error) { return PHQ2Label([]int{0, 4}) },
		"is -1":   func() (Label, error) { return ScoreLabel(GAD7, []int{-1, 0, 0, 0, 0, 0, 0}) },
		"0 items": func() (Label, error) { return ScoreLabel(PHQ2, nil) },
	} {
		if _, err := bad(); !errors.Is(err, ErrLabel) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want an ErrLabel that says so", name, err)
		}
	}
}
