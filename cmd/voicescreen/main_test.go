package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
)

const (
	interview = "../../testdata/interview_en.wav" // 41 s of speech
	short     = "../../testdata/short_en.wav"     // 4.7 s of speech
	voice16k  = "../../testdata/voice_16k_en.wav"
)

// stopPostgres stops the PostgreSQL server of the tests, if one was started.
var stopPostgres = func() error { return nil }

// built is the program, built once for the tests that start it.
var built string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == scorerHelper {
		helpToScore(os.Args[2])
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "voicescreen-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		built = filepath.Join(dir, "voicescreen.exe") // any name will do elsewhere than on Windows
		if err := build(built, "."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := testflag.Parallel("4"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := stopPostgres(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if err := goleak.Find(); code == 0 && err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

// build builds the program of a directory. Without symbols it is linked in half of the time.
func build(program, dir string, flags ...string) error {
	args := append([]string{"build", "-ldflags=-s -w", "-o", program}, flags...)
	if out, err := exec.Command("go", append(args, dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// program runs a command line in a process of its own. Beside a test with the
// race detector it is also the fast way to analyse long recordings.
func program(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), built, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code := 0
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return outcome{stdout.String(), stderr.String(), code}
}

// outcome is what a command line gave.
type outcome struct {
	stdout, stderr string
	code           int
}

// cli runs a command line in this process.
func cli(t testing.TB, args ...string) outcome {
	t.Helper()
	return cliStdin(t, "", args...)
}

func cliStdin(t testing.TB, stdin string, args ...string) outcome {
	t.Helper()
	return cliContext(t, t.Context(), stdin, args...)
}

// cliContext is cliStdin with a context, whose end interrupts the command.
func cliContext(t testing.TB, ctx context.Context, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Run(ctx, newRoot(), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{stdout.String(), stderr.String(), code}
}

// ok runs a command line that must succeed.
func ok(t testing.TB, args ...string) outcome {
	t.Helper()
	o := cli(t, args...)
	if o.code != 0 {
		t.Fatalf("%v: got code %d, want 0; standard error:\n%s", args, o.code, o.stderr)
	}
	return o
}

// writeTone writes a tone of the given level, 0 to 1, as a 16-bit WAV file
// with a tone an octave higher in each further channel.
func writeTone(t testing.TB, seconds float64, rate, channels int, hz, level float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("tone_%g_%d.wav", hz, channels))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := wav.NewEncoder(f, rate, 16, channels, 1)
	data := make([]int, int(seconds*float64(rate))*channels)
	for i := range data {
		frame, c := i/channels, i%channels
		f := hz * float64(int(1)<<c)
		data[i] = int(math.Round(level * 32767 * math.Sin(2*math.Pi*f*float64(frame)/float64(rate))))
	}
	if err := e.Write(&audio.IntBuffer{
		Format: &audio.Format{NumChannels: channels, SampleRate: rate}, Data: data, SourceBitDepth: 16,
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// clip returns the first seconds of a 16-bit mono WAV file at 44.1 kHz whose
// header has 44 bytes.
func clip(file []byte, seconds float64) []byte {
	n := 2 * int(seconds*44100)
	out := bytes.Clone(file[:44+n])
	binary.LittleEndian.PutUint32(out[4:], uint32(36+n))
	binary.LittleEndian.PutUint32(out[40:], uint32(n))
	return out
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s: has no description or no example", cmd.CommandPath())
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if o := ok(t, args...); !strings.Contains(o.stdout, "Examples:") || o.stderr != "" {
			t.Errorf("%s: help has no example, or writes to standard error", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}

func TestUsageErrors(t *testing.T) {
	for _, line := range []string{
		"analise x.wav",
		"--bogus",
		"analyze",
		"analyze --channel -1 " + short,
		"analyze --bogus " + short,
		"analyze - -",
		"analyze --json --csv " + short,
		"analyze --deepfake-prior 5 " + short,
		"analyze --deepfake-prior 0 " + short,
		"analyze --deepfake-prior nan " + short,
		"features",
		"features --bogus " + short,
		"features --json --frames " + short,
		"features --frames " + short + " " + short,
		"features --frames .",
		"features --json --csv " + short,
		"features --csv --frames " + short,
		"features --channel -1 " + short,
		"features --channel x " + short,
		"features - -",
		"serve",
		"serve --db a.db",
		"serve --dev --addr nowhere",
		"serve --dev extra",
		"serve --dev --metrics-addr nowhere",
		"serve --dev --rate -1",
		"serve --dev --rate nan",
		"serve --dev --rate 1 --burst -1",
		"serve --dev --burst 5",
		"serve --dev --deepfake-prior 5",
		"serve --dev --audit-key k",
		"serve --dev --max-upload -1",
		"serve --dev --max-upload 5000",
		"serve --dev --max-wait -1s",
		"audit verify",
		"audit verify --head 12 audit.log",
		"serve --dev --retain 1h",
		"serve --dev --retain -1h",
		"serve --dev --backup .",
		"serve --dev --backup-every 24h",
		"serve --dev --backup . --backup-every 0s",
		"serve --dev --backup . --backup-every -24h",
		"serve --dev --retain 0.5d",
		"serve --dev --retain 30days",
		"serve --dev --backup main.go --backup-every 24h",
		"serve --dev --backup none --backup-every 24h",
		"webhooks lst",
		"webhooks set --webhooks w.json --url https://a.example/",
		"webhooks set --webhooks w.json --account a",
		"webhooks set --account a --url https://a.example/",
		"webhooks rotate --webhooks w.json --account a --keep -1h",
		"webhooks remove --webhooks w.json",
		"webhooks list",
		"webhooks test",
		"webhooks test --webhooks w.json",
		"webhooks test --webhooks w.json --account a --webhook-allow-private nowhere",
		"webhooks set --webhooks w.json --account a --url https://a.example/ --webhook-allow-private 10.0.0.0/33",
		"serve --dev --webhook-allow-private 10.0.0.0/8",
		"serve --dev --webhooks w.json --webhook-allow-private 10.0.0",
		"keys crate",
		"keys create",
		"keys create --keys k.json",
		"keys create --keys k.json --account a --scopes everything",
		"keys create --keys k.json --account a extra",
		"keys revoke --keys k.json",
		"keys revoke --keys k.json --account a --id b",
		"keys list",
		"calibrate --db none.db --revert",
		"calibrate --db none.db --task anxiety --revert --dry-run",
		"calibrate --db none.db --task anxiety --revert --out m.json",
		"calibrate --db none.db --task anxiety --revert --since 2026-01-31",
		"calibrate --db none.db --task anxiety --revert --account a",
		"calibrate --db none.db --task anxiety --revert --seed 0",
		"version now",
	} {
		o := cli(t, strings.Fields(line)...)
		if o.code != command.ExitUsage || o.stdout != "" || !strings.HasPrefix(o.stderr, "voicescreen: ") || !strings.Contains(o.stderr, "--help") {
			t.Errorf("%s: got %+v, want a usage error", line, o)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for want, args := range map[int][]string{
		0:                 {"version"},
		command.ExitError: {"features", "none.wav"},
		command.ExitUsage: {"serve", "--nonsense"},
	} {
		if o := program(t, args...); o.code != want {
			t.Errorf("%v: got %+v, want exit code %d", args, o, want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"features " + short, "analyze " + short} {
		var stdout, stderr bytes.Buffer
		code := command.Run(ctx, newRoot(), strings.Fields(line), strings.NewReader(""), &stdout, &stderr)
		if code != command.ExitInterrupted || stdout.Len() > 0 || stderr.String() != "voicescreen: interrupted\n" {
			t.Errorf("%s: got code %d, %q, want to be told of the interrupt", line, code, &stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	o := ok(t, "version")
	for _, want := range []string{"voicescreen ", "go1.", "depression", "anxiety"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got %q, want %q in it", o.stdout, want)
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
