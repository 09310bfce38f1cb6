package main

import (
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestSimulateCommand(t *testing.T) {
	args := []string{"simulate", "--labels", "0,60", "--recordings", "0,40", "--replicates", "1", "--people", "50"}
	first := ok(t, args...).stdout
	for _, want := range []string{"depression: means over 1 populations", "as the prior says", "labels at random", "drifted", "| 60 |", "coverage", "without labels: measured otherwise, base rate not stated, means over 5 populations", "| 40 |"} {
		if !strings.Contains(first, want) {
			t.Errorf("got\n%s, want %q in it", first, want)
		}
	}
	if again := ok(t, args...).stdout; again != first {
		t.Errorf("got\n%s the second time, want\n%s", again, first)
	}
	if o := ok(t, append(args, "--task", "anxiety", "--json")...); !strings.Contains(o.stdout, `"category":"anxiety"`) || !strings.Contains(o.stdout, `"unlabelled":[{"scenario":"ordinary","base_rate_stated":true`) {
		t.Errorf("got %s, want JSON", o.stdout)
	}
	for _, bad := range [][]string{{"--task", "deepfake"}, {"--labels", "-1"}, {"--recordings", "-1"}, {"--replicates", "0"}} {
		if o := cli(t, append([]string{"simulate"}, bad...)...); o.code != command.ExitUsage {
			t.Errorf("%v: got %+v, want a usage error", bad, o)
		}
	}
}
