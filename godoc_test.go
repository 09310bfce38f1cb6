package voicescreen_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestGoDocFindsTheFlow asks the go command for the methods that Engine has of
// the embedded Account: a reader looks for them there.
func TestGoDocFindsTheFlow(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Initiate", "Submit", "Result", "Results", "Wait", "Feedback", "Delete", "Forget", "Analyze", "Tenant"} {
		out, err := exec.CommandContext(t.Context(), "go", "doc", ".", "Engine."+method).CombinedOutput()
		if err != nil || !strings.Contains(string(out), ") "+method+"(") {
			t.Errorf("go doc . Engine.%s: got %s (%v), want its declaration", method, out, err)
		}
	}
}
