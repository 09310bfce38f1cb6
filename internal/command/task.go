package command

import (
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// ParseTask returns the category of the flag --task.
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

// ShippedPrior returns the shipped model of a task. The error is one in the command
// line for a model that does not learn.
func ShippedPrior(c screen.Category) (*models.BayesFile, error) {
	if c != screen.Depression && c != screen.Anxiety {
		return nil, Usagef("the %v model does not learn from labels, want depression or anxiety", c)
	}
	return shipped.Bayes(c)
}
