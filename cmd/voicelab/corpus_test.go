package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/lab/corpus"
	"github.com/voicescreen/voicescreen/models"
)

// interviews writes a small corpus in the layout of DAIC-WOZ: in each of n
// sessions of nine seconds the interviewer asks, and the participant answers
// for six seconds, at two syllables a second if depressed and at four if not.
// The interviewer speaks alike to both.
func interviews(t *testing.T, n int) string {
	t.Helper()
	root := t.TempDir()
	tables := map[string]*strings.Builder{"train": {}, "dev": {}}
	for _, b := range tables {
		b.WriteString("Participant_ID,PHQ8_Binary,PHQ8_Score,Gender\n")
	}
	for i := range n {
		id, depressed := 400+i, i%2 == 1
		total, rate := i%9, 4.0
		if depressed {
			total, rate = 12+i%9, 2
		}
		split := "train"
		if i%3 == 2 {
			split = "dev"
		}
		fmt.Fprintf(tables[split], "%d,%d,%d,%d\n", id, i%2, total, i/2%2)
		dir := filepath.Join(root, fmt.Sprintf("%d_P", id))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		x := babble(9, func(t float64) float64 {
			if t < 3 {
				return 3
			}
			return rate + 0.1*float64(i%5)
		}, 110+7*(i%11))
		write(t, filepath.Join(dir, fmt.Sprintf("%d_AUDIO.wav", id)), x)
		write(t, filepath.Join(dir, fmt.Sprintf("%d_TRANSCRIPT.csv", id)),
			[]byte("start_time\tstop_time\tspeaker\tvalue\n0.1\t2.9\tEllie\thow are you\n3.0\t9.0\tParticipant\twell\n"))
	}
	for split, b := range tables {
		write(t, filepath.Join(root, split+"_split_Depression_AVEC2017.csv"), []byte(b.String()))
	}
	return root
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// babble is a WAV file at 16 kHz of a voice, of f0 Hz, of syllables at a rate
// that changes with time.
func babble(seconds float64, rate func(t float64) float64, f0 int) []byte {
	const sr = 16000
	n := int(seconds * sr)
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	b = le.AppendUint16(le.AppendUint16(le.AppendUint32(b, 16), 1), 1)
	b = le.AppendUint16(le.AppendUint16(le.AppendUint32(le.AppendUint32(b, sr), 2*sr), 2), 16)
	b = le.AppendUint32(append(b, "data"...), uint32(2*n))
	buzz := make([]float64, sr) // a second of the voice, which repeats
	for i := range buzz {
		for k := 1; k*f0 < 4000; k++ {
			buzz[i] += 0.15 / float64(k) * math.Sin(2*math.Pi*float64(k*f0*i%sr)/sr)
		}
	}
	phase, seed := 0.0, uint32(1)
	for i := range n {
		t := float64(i) / sr
		phase += math.Pi * rate(t) / sr
		seed = seed*1664525 + 1013904223
		v := 1e-4 * (float64(seed)/(1<<31) - 1)
		v += math.Pow(math.Sin(phase), 2) * buzz[i%sr]
		b = le.AppendUint16(b, uint16(int16(math.Round(32767*v))))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

func TestTrainOnACorpus(t *testing.T) {
	root, dir := interviews(t, 30), t.TempDir()
	out, cache := filepath.Join(dir, "model.json"), filepath.Join(dir, "cache")
	args := []string{"train", "--task", "depression", "--corpus", "daic-woz", "--root", root, "--cache", cache, "--out", out}
	o := ok(t, args...)
	auc := func(system string) float64 { return figure(t, o.stdout, system+` +([0-9.]+) `) }
	if v := auc("voice, regression"); v < 0.9 {
		t.Errorf("got AUC %v for voices of half the speed, want more than 0.9\n%s", v, o.stdout)
	}
	// 10 sessions: a standard error of 0.19.
	if v := auc("interviewer alone"); v > 0.85 {
		t.Errorf("got AUC %v for the interviewer, who speaks alike to all\n%s", v, o.stdout)
	}
	auc("sex and age alone")
	s, err := models.LoadFile(out)
	if err != nil || !s.Info().Calibrated {
		t.Fatalf("got %+v, %v, want a model that says what it was calibrated on", s, err)
	}
	if text := string(read(t, out)); !strings.Contains(text, `"data": "DAIC-WOZ"`) || strings.Contains(text, "feedback") || strings.Contains(text, "operator") {
		t.Errorf("got\n%s\nwant it to say that the labels are those of DAIC-WOZ", text)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "*.json"))
	if err != nil || len(kept) != 30 {
		t.Fatalf("got %d sessions in the cache, %v, want 30", len(kept), err)
	}

	// The second run reads no recording but that of the one session that is not
	// in the cache: what is now silence stays what it was.
	files, err := filepath.Glob(filepath.Join(root, "*_P", "*.wav"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		silence(t, f)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	again := ok(t, args...)
	if n := strings.Count(again.stderr, "nobody speaks"); n != 1 || !strings.Contains(again.stdout, "29 sessions, 1 left out") {
		t.Errorf("got\n%s%s\nwant one session measured anew", again.stderr, again.stdout)
	}
}

// silence empties a recording of its samples, and leaves its size and time.
func silence(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, path)
	clear(b[44:])
	write(t, path, b)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

func TestEvaluateOnACorpus(t *testing.T) {
	root := interviews(t, 12)
	if err := os.Remove(filepath.Join(root, "400_P", "400_AUDIO.wav")); err != nil {
		t.Fatal(err)
	}
	o := ok(t, "evaluate", "--task", "depression", "--corpus", "daic-woz", "--root", root)
	if !strings.Contains(o.stdout, "rows      11, 6 of them positive") || !strings.Contains(o.stdout, "classes") || !strings.Contains(o.stderr, "session 400 is left out") {
		t.Errorf("got\n%s%s", o.stdout, o.stderr)
	}
	o = ok(t, "evaluate", "--task", "depression", "--corpus", "daic-woz", "--root", root, "--use", "dev")
	if !strings.Contains(o.stdout, "rows      4,") {
		t.Errorf("got\n%s\nwant the four sessions of dev", o.stdout)
	}
}

// An interrupt at the very end does not make the session in work one that is
// left out.
func TestInterruptAtTheEndOfACorpus(t *testing.T) {
	for range 100 { // the interrupt and the last result race
		ctx, interrupt := context.WithCancel(t.Context())
		cmd := &cobra.Command{}
		cmd.SetContext(ctx)
		cmd.SetErr(io.Discard)
		c := &corpus.Corpus{Sessions: make([]corpus.Session, 2)}
		values, err := eachSession(cmd, c, "scoring", func(_ *features.Measurer, s *corpus.Session) (int, error) {
			if s == &c.Sessions[0] {
				return 1, nil
			}
			interrupt()
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, %d left out and error %v, want %v", values, len(c.Skipped), err, context.Canceled)
		}
	}
}

func TestCorpusErrors(t *testing.T) {
	dir := t.TempDir()
	// Scores need the recordings: there is nothing that evaluate could keep.
	o := cli(t, "evaluate", "--task", "depression", "--corpus", "eatd", "--root", dir, "--cache", dir)
	if o.code != 2 || !strings.Contains(o.stderr, "unknown flag: --cache") {
		t.Errorf("evaluate with a cache: got code %d, %q", o.code, o.stderr)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no folder":         {[]string{"--corpus", "eatd"}, "--root"},
		"both":              {[]string{"--corpus", "eatd", "--root", dir, "--manifest", "m.csv"}, "exclude each other"},
		"neither":           {nil, "--manifest"},
		"an empty folder":   {[]string{"--corpus", "eatd", "--root", dir}, "no folder"},
		"root of nothing":   {[]string{"--manifest", "m.csv", "--root", dir}, "need --corpus"},
		"no such corpus":    {[]string{"--corpus", "tess", "--root", dir}, "tess"},
		"no such folder":    {[]string{"--corpus", "daic-woz", "--root", filepath.Join(dir, "none")}, "no train_split"},
		"labels it has not": {[]string{"--corpus", "modma", "--task", "deepfake", "--root", dir}, "deepfake"},
	} {
		for _, command := range [][]string{{"train", "--out", filepath.Join(dir, "m.json")}, {"evaluate"}} {
			args := append(append(command, "--task", "depression"), c.args...)
			if o := cli(t, args...); o.code == 0 || !strings.Contains(o.stderr, c.want) {
				t.Errorf("%s, %s: got code %d, %q, want %q", name, command[0], o.code, o.stderr, c.want)
			}
		}
	}
}
