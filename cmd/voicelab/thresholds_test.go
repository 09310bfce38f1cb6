package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

// scoresFile writes scores that lean on totals of a questionnaire.
func scoresFile(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("path,label,score,total\n")
	for i := range n {
		total := rng.IntN(22)
		label := 0
		if total >= 10 {
			label = 1
		}
		p := min(max(float64(total)/21+0.2*rng.NormFloat64(), 0), 1)
		fmt.Fprintf(&b, "r%d.wav,%d,%.4f,%d\n", i, label, p, total)
	}
	path := filepath.Join(t.TempDir(), "scores.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThresholds(t *testing.T) {
	scores, out := scoresFile(t, 400), filepath.Join(t.TempDir(), "thresholds.json")
	o := ok(t, "thresholds", "--task", "anxiety", "--scores", scores, "--undecided", "0.2", "--classes", "mae", "--account", "a", "--out", out)
	if v := figure(t, o.stdout, `on these .*undecided ([0-9.]+)`); v > 0.2 {
		t.Errorf("got %v undecided, want at most 0.2", v)
	}
	these, others := figure(t, o.stdout, `on these +sensitivity ([0-9.]+)`), figure(t, o.stdout, `on others +sensitivity ([0-9.]+)`)
	if these < 0.8 || others < 0.75 {
		t.Errorf("got sensitivity %v on these, %v on others; the scores tell more", these, others)
	}
	o = ok(t, "thresholds", "--task", "depression", "--scores", scores, "--sensitivity", "0.95", "--specificity", "0.95", "--out", out)
	if v := figure(t, o.stdout, `on these +sensitivity ([0-9.]+)`); v < 0.9 {
		t.Errorf("got sensitivity %v among the decided, want 0.95 of all not below the band", v)
	}
	a, err := readThresholds(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(a["a"][screen.Anxiety].Classes) != 3 || a[screen.AllAccounts][screen.Depression].Low == nil {
		t.Errorf("got %+v, want what both calls wrote", a)
	}
}

// Calls at the same time do not lose each other's thresholds, and everybody may
// read the file, as before.
func TestThresholdsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "thresholds.json"), filepath.Join(dir, "other")
	half := 0.5
	const calls = 20
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			if err := writeThresholds(path, fmt.Sprint("account ", i), screen.Anxiety, screen.Thresholds{Low: &half, High: &half}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	a, err := readThresholds(path)
	if err != nil || len(a) != calls {
		t.Errorf("got %d accounts and error %v, want %d", len(a), err, calls)
	}
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := mode(t, path), mode(t, other); got != want {
		t.Errorf("got mode %v, want %v", got, want)
	}
}

// readThresholds reads a file of thresholds.
func readThresholds(path string) (screen.AccountThresholds, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return screen.ReadThresholds(f)
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// The recordings of one group are held out together, and every part is used.
func TestThresholdsHoldGroupsOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.csv")
	var b strings.Builder
	b.WriteString("label,score,group\n")
	for i := range 300 {
		group := fmt.Sprint("person ", i%40)
		if i%40 < 5 {
			group = ""
		}
		fmt.Fprintf(&b, "%d,0.5,%s\n", i%2, group)
	}
	write(t, path, []byte(b.String()))
	s, err := readScores(path, screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	of, parts := map[string]int{}, map[int]int{}
	for i, f := range s.deal() {
		parts[f]++
		if g := s.group[i]; g != "" {
			if was, seen := of[g]; seen && was != f {
				t.Fatalf("%s is in parts %d and %d", g, was, f)
			}
			of[g] = f
		}
	}
	if len(of) != 35 || len(parts) != heldOutFolds {
		t.Errorf("got %d groups in %v, want 35 in %d parts", len(of), parts, heldOutFolds)
	}
}

func TestThresholdsErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := scoresFile(t, 40)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":         {[]string{"--scores", filepath.Join(dir, "none.csv")}, "no such file"},
		"no columns":      {[]string{"--scores", file("a.csv", "path,p\n")}, "label and score"},
		"no probability":  {[]string{"--scores", file("b.csv", "label,score\n1,2\n")}, "line 2"},
		"unknown label":   {[]string{"--scores", file("c.csv", "label,score\nyes,1\n")}, "line 2"},
		"one class":       {[]string{"--scores", file("d.csv", "label,score\n1,1\n")}, "want both"},
		"no totals":       {[]string{"--scores", file("e.csv", "label,score\n1,1\n0,0\n"), "--classes", "mae"}, "total"},
		"no such measure": {[]string{"--scores", good, "--classes", "luck"}, "luck"},
		"both ways":       {[]string{"--scores", good, "--undecided", "0.1", "--sensitivity", "0.9"}, "exclude each other"},
		"no thresholds":   {[]string{"--scores", good, "--out", file("f.json", "{}")}, "format"},
		"a negative":      {[]string{"--scores", good, "--sensitivity", "-1"}, "--sensitivity is -1"},
		"not a number":    {[]string{"--scores", good, "--specificity", "nan"}, "--specificity is NaN"},
		"no such total":   {[]string{"--scores", file("g.csv", "label,score,total\n1,1,22\n")}, "line 2: total"},
		"budget":          {[]string{"--scores", good, "--undecided", "1"}, "--undecided is 1"},
	} {
		if o := cli(t, append([]string{"thresholds", "--task", "anxiety"}, c.args...)...); o.code == 0 || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got code %d, %q, want %q", name, o.code, o.stderr, c.want)
		}
	}
}
