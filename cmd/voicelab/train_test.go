package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// writeBuzz writes a second of a harmonic complex at 16 kHz whose f0 drifts
// around hz, with a little noise and a short rest.
func writeBuzz(t *testing.T, path string, hz float64, rng *rand.Rand) {
	t.Helper()
	const rate, seconds = 16000, 1
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := make([]int, rate*seconds)
	phase := 0.0
	for i := range data {
		now := float64(i) / rate
		phase += 2 * math.Pi * hz * (1 + 0.02*math.Sin(2*math.Pi*now)) / rate
		var v float64
		for k := 1.0; k*hz < 4000; k++ {
			v += math.Sin(k*phase) / k
		}
		if now > 0.5 && now < 0.75 {
			v = 0
		}
		data[i] = int(6000*v + 30*rng.NormFloat64())
	}
	e := wav.NewEncoder(f, rate, 16, 1, 1)
	if err := e.Write(&audio.IntBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: rate}, Data: data, SourceBitDepth: 16}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// labelled makes recordings of two classes that differ in pitch, and their
// manifest, and returns its path.
func labelled(t *testing.T, n int, negative, positive string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "clips"), 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	manifest := "note,path,label\n"
	for i := range n {
		hz, label := 110+20*rng.Float64(), negative
		if i%2 == 1 {
			hz, label = 190+30*rng.Float64(), positive
		}
		path := fmt.Sprintf("clips/%02d.wav", i)
		writeBuzz(t, filepath.Join(dir, path), hz, rng)
		manifest += fmt.Sprintf("\"a, b\",%s,%s\n", path, label)
	}
	path := filepath.Join(dir, "manifest.csv")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTrainAndEvaluate(t *testing.T) {
	for task, labels := range map[string][2]string{
		"deepfake":   {"bonafide", "spoof"},
		"depression": {"0", "1"},
		"anxiety":    {"false", "true"},
	} {
		t.Run(task, func(t *testing.T) {
			n := cost.Sized(16, 8)
			manifest := labelled(t, n, labels[0], labels[1])
			dir := t.TempDir()
			model, again, scores := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "scores.csv")
			o := ok(t, "train", "--task", task, "--manifest", manifest, "--out", model, "--name", "pitch", "--data", "buzzes")
			if !strings.Contains(o.stdout, "auc") || !strings.Contains(o.stdout, fmt.Sprint(n, " recordings")) {
				t.Errorf("got %q, want the figures of the model", o.stdout)
			}
			if task == "depression" { // one is enough to see it
				ok(t, "train", "--task", task, "--manifest", manifest, "--out", again, "--name", "pitch", "--data", "buzzes")
				if !bytes.Equal(read(t, model), read(t, again)) {
					t.Error("the same training gives another file")
				}
			}
			s, err := models.LoadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			if info := s.Info(); info.Name != "pitch" || info.Categories[0].String() != task {
				t.Errorf("got model %+v, want pitch for %s", info, task)
			}

			o = ok(t, "evaluate", "--task", task, "--manifest", manifest, "--model", model, "--scores", scores)
			for _, want := range []string{fmt.Sprintf("rows      %d, %d of them positive", n, n/2), "EER", "AUC", "95 % interval"} {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("got\n%s\nwant %q in it", o.stdout, want)
				}
			}
			// Two classes an octave apart are told apart wherever pitch counts.
			if auc := figure(t, o.stdout, `AUC +([0-9.]+)`); auc < 0.95 {
				t.Errorf("got AUC %v, want nearly 1 on what it was trained on", auc)
			}
			checkScores(t, scores, manifest, labels)
		})
	}
}

// For depression and anxiety the bootstrap is over people, wherever their
// recordings come from, and the scores say whose they are.
func TestEvaluateIsOverPeople(t *testing.T) {
	manifest := labelled(t, 12, "0", "1")
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(string(read(t, manifest))), "\n") {
		more := ",speaker,source_repo"
		if i > 0 {
			more = fmt.Sprintf(",person %d,clinic", i/2)
		}
		b.WriteString(line + more + "\n")
	}
	write(t, manifest, []byte(b.String()))
	scores := filepath.Join(t.TempDir(), "scores.csv")
	o := ok(t, "evaluate", "--task", "depression", "--manifest", manifest, "--scores", scores)
	low, high := figure(t, o.stdout, `Brier .*interval ([0-9.]+) to`), figure(t, o.stdout, `Brier .*interval [0-9.]+ to ([0-9.]+)`)
	if !(low < high) {
		t.Errorf("got the interval %v to %v, want one that resamples people\n%s", low, high, o.stdout)
	}
	rows := strings.Split(string(read(t, scores)), "\n")
	if rows[0] != "path,label,score,group" || !strings.HasSuffix(rows[1], ",person 0") {
		t.Errorf("got %q, want the person as the group", rows[:2])
	}
}

// figure returns the number in text that the pattern captures.
func figure(t *testing.T, text, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("got\n%s\nwant %s in it", text, pattern)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkScores wants one score for each row of the manifest, in its order.
func checkScores(t *testing.T, scores, manifest string, labels [2]string) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(read(t, scores))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], ","); got != "path,label,score" {
		t.Fatalf("got columns %s, want path,label,score", got)
	}
	want, err := csv.NewReader(bytes.NewReader(read(t, manifest))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(want) {
		t.Fatalf("got %d rows, want %d", len(rows), len(want))
	}
	for i, row := range rows[1:] {
		score, err := strconv.ParseFloat(row[2], 64)
		if err != nil || !(score >= 0 && score <= 1) || row[0] != want[i+1][1] || row[1] != want[i+1][2] {
			t.Errorf("row %d: got %v, want path, label of %v and a score", i, row, want[i+1])
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The shipped models score any recording, also one too short for analyze.
func TestEvaluateShippedModels(t *testing.T) {
	manifest := labelled(t, 4, "0", "1")
	for _, task := range []string{"depression", "anxiety", "deepfake"} {
		o := ok(t, "evaluate", "--task", task, "--manifest", manifest)
		if !strings.Contains(o.stdout, "rows      4, 2 of them positive") || !strings.Contains(o.stdout, "EER") {
			t.Errorf("%s: got\n%s\nwant figures on 4 rows", task, o.stdout)
		}
	}
}

// The same figures as text, as JSON and on a page; the gate counts what it
// refuses.
func TestEvaluateForms(t *testing.T) {
	manifest, page := labelled(t, 4, "0", "1"), filepath.Join(t.TempDir(), "report.html")
	o := ok(t, "evaluate", "--task", "anxiety", "--manifest", manifest, "--json", "--report", page, "--gate")
	var r struct {
		Recordings int
		Refused    map[string]int
	}
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Recordings != 0 || r.Refused["audio_length_error"]+r.Refused["no_speech_error"] != 4 {
		t.Errorf("got %+v, want 4 buzzes of a second refused", r)
	}
	if b := read(t, page); !bytes.Contains(b, []byte("4 of 4 recordings refused")) {
		t.Errorf("got %s, want the count of the gate", b)
	}
}

// Thresholds are chosen on what evaluate writes and applied to what the service
// scores: told the same, both have the same probability.
func TestEvaluateSupposesWhatTheServiceDoes(t *testing.T) {
	file, err := filepath.Abs(interview)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	manifest, scores := filepath.Join(dir, "manifest.csv"), filepath.Join(dir, "scores.csv")
	write(t, manifest, []byte("path,label\n"+file+",0\n"))
	told := []string{"--base-rate", "depression=0.39", "--base-rate", "anxiety=0.3", "--fixed-gain"}
	prior := []string{"--deepfake-prior", "0.01"}
	of := map[string]float64{}
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, &voicescreen.Options{Workers: -1, Scoring: voicescreen.ScoringOptions{
		BaseRates:     map[screen.Category]float64{screen.Depression: 0.39, screen.Anxiety: 0.3},
		DeepfakePrior: 0.01, FixedGain: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(t.Context())
	c, err := command.ReadFile(t.Context(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := engine.AnalyzeChannel(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Scores {
		of[s.Category.String()] = s.Probability
	}
	for _, task := range []string{"depression", "anxiety", "deepfake"} {
		args := append([]string{"evaluate", "--task", task, "--manifest", manifest, "--scores", scores}, told...)
		if task == "deepfake" {
			args = append(args, prior...)
		}
		ok(t, args...)
		s, err := readScores(scores, screen.Depression) // whose labels are 0 and 1 too
		if err != nil {
			t.Fatal(err)
		}
		if s.score[0] != of[task] {
			t.Errorf("%s: got %v, want that of the service, %v", task, s.score[0], of[task])
		}
	}
	for _, bad := range [][]string{{"--deepfake-prior", "1"}, {"--deepfake-prior", "nan"}, {"--base-rate", "depression=2"}} {
		if o := cli(t, append([]string{"evaluate", "--task", "deepfake", "--manifest", manifest}, bad...)...); o.code != command.ExitUsage {
			t.Errorf("%v: got %+v, want a usage error", bad, o)
		}
	}
}

func TestEvaluateChoosesRowsByUse(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "manifest.csv")
	file, err := filepath.Abs(short)
	if err != nil {
		t.Fatal(err)
	}
	table := "\xef\xbb\xbfpath,label,use\n" + file + ",0,train\n" + file + ",1,validate\n" + file + ",0,validate\n"
	if err := os.WriteFile(manifest, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	o := ok(t, "evaluate", "--task", "anxiety", "--manifest", manifest, "--use", "validate")
	// The same recording in both classes: chance, whatever the model.
	if auc := figure(t, o.stdout, `AUC +([0-9.]+)`); auc != 0.5 || !strings.Contains(o.stdout, "rows      2") {
		t.Errorf("got\n%s\nwant AUC 0.5 on 2 rows", o.stdout)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	o = ok(t, "evaluate", "--task", "anxiety", "--manifest", manifest, "--report", page)
	if !strings.Contains(o.stderr, "use is train") {
		t.Errorf("got %q, want a warning", o.stderr)
	}
	const warning = "the use of 1 of the 3 recordings is train"
	if b := read(t, page); !bytes.Contains(b, []byte(warning)) || !strings.Contains(o.stdout, warning) {
		t.Errorf("got the page %s and\n%s\nwant %q in both", b, o.stdout, warning)
	}
	o = ok(t, "evaluate", "--task", "anxiety", "--manifest", manifest, "--use", "validate", "--report", page)
	if b := read(t, page); bytes.Contains(b, []byte("is train")) || strings.Contains(o.stdout, "is train") || o.stderr != "" {
		t.Errorf("without training rows: got the page %s and %+v, want no warning", b, o)
	}
	var r struct {
		Training int `json:"training_recordings"`
	}
	if err := json.Unmarshal([]byte(ok(t, "evaluate", "--task", "anxiety", "--manifest", manifest, "--json").stdout), &r); err != nil || r.Training != 1 {
		t.Errorf("got %d training recordings in JSON, %v, want 1", r.Training, err)
	}
}

func TestTrainAndEvaluateErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	out := filepath.Join(dir, "out.json")
	abs, err := filepath.Abs(short)
	if err != nil {
		t.Fatal(err)
	}
	good := file("good.csv", "path,label\n"+abs+",0\n"+abs+",1\n")
	bad := file("bad.csv", "path,label\nnone.wav,0\n"+abs+",1\n")
	for name, tt := range map[string]struct {
		line []string
		says string
	}{
		"no manifest":              {[]string{"evaluate", "--manifest", filepath.Join(dir, "none.csv")}, "no such file"},
		"empty manifest":           {[]string{"evaluate", "--manifest", file("empty.csv", "")}, "empty.csv"},
		"no label column":          {[]string{"evaluate", "--manifest", file("nolabel.csv", "path,class\na,b\n")}, "label"},
		"unknown label":            {[]string{"evaluate", "--manifest", file("label.csv", "path,label\na.wav,maybe\n")}, "line 2"},
		"uneven rows":              {[]string{"evaluate", "--manifest", file("uneven.csv", "path,label\na.wav\n")}, "uneven.csv"},
		"no rows":                  {[]string{"evaluate", "--manifest", file("norows.csv", "path,label\n")}, "rows"},
		"no row of the use":        {[]string{"evaluate", "--manifest", good, "--use", "test"}, "test"},
		"missing recording":        {[]string{"evaluate", "--manifest", bad}, "none.wav: no such file"},
		"not a model":              {[]string{"evaluate", "--manifest", good, "--model", good}, "model"},
		"scores nowhere":           {[]string{"evaluate", "--manifest", good, "--scores", filepath.Join(dir, "none", "s.csv")}, "write"},
		"scores over a directory":  {[]string{"evaluate", "--manifest", good, "--scores", dir}, "directory"},
		"train: missing recording": {[]string{"train", "--manifest", bad, "--out", out}, "none.wav"},
		"train: out nowhere":       {[]string{"train", "--manifest", good, "--out", filepath.Join(dir, "none", "m.json")}, "write"},
	} {
		o := cli(t, append(tt.line, "--task", "depression")...)
		if o.code != command.ExitError || !strings.Contains(o.stderr, tt.says) || o.stdout != "" {
			t.Errorf("%s: got %+v, want an error that says %q", name, o, tt.says)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("got %v left behind, %v", left, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a training that ended in an error wrote a model")
	}
}
