package command

import (
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// ParseTask returns the category of the flag --task. The error is one in the command line.
func ParseTask(s string) (screen.Category, error) {
	var c screen.Category
	if s == "" {
		return c, Usagef("--task is missing, want depression, anxiety or deepfake")
	}
	if err := c.UnmarshalText([]byte(s)); err != nil {
		return c, Usagef("--task is %q, want depression, anxiety or deepfake", s)
	}
	return c, nil
}

// ShippedPrior returns the shipped model of a category. For a category whose model does
// not learn the error is one in the command line.
func ShippedPrior(c screen.Category) (*models.BayesFile, error) {
	if c != screen.Depression && c != screen.Anxiety {
		return nil, Usagef("the %v model does not learn from labels, want depression or anxiety", c)
	}
	return shipped.Bayes(c)
}
