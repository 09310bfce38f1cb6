package command_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

// configured is what a configurable command got.
type configured struct {
	Rate   float64
	Dev    bool
	Models []string
	Retain time.Duration
	Addr   string
	Key    string // file of a secret
}

// outcome is how a configurable command ended.
type outcome struct {
	configured
	code     int
	warnings []string
	stderr   string
}

// configure runs the command "tool serve" with the arguments. The environment is
// what the test set.
func configure(t *testing.T, args ...string) outcome {
	t.Helper()
	var o outcome
	cmd := &cobra.Command{Use: "serve", Args: command.Args(cobra.NoArgs)}
	cmd.Flags().Float64Var(&o.Rate, "rate", 1, "")
	cmd.Flags().BoolVar(&o.Dev, "dev", false, "")
	cmd.Flags().StringArrayVar(&o.Models, "model", nil, "")
	cmd.Flags().StringVar(&o.Addr, "listen-addr", "default", "")
	cmd.Flags().StringVar(&o.Key, "store-key", "", "")
	command.DurationVar(cmd, &o.Retain, "retain", "")
	command.SecretFile(cmd, "store-key", "TOOL_STORE_KEY")
	command.Configurable(cmd, "TOOL_", func(_ *cobra.Command, warnings []string) error {
		o.warnings = warnings
		if o.Rate < 0 {
			return command.Usagef("--rate is %v, want 0 or more", o.Rate)
		}
		return nil
	})
	root := command.Group(&cobra.Command{Use: "tool"})
	root.AddCommand(cmd)
	var out, errs bytes.Buffer
	o.code = command.Run(t.Context(), root, append([]string{"serve"}, args...), strings.NewReader(""), &out, &errs)
	o.stderr = errs.String()
	return o
}

// configFile writes a configuration file and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const wholeFile = "\ufeff" + `{
  "rate": 2.5,
  "dev": true,
  "model": ["a,1.json", "b.json"],
  "retain": "30d",
  "listen-addr": "file",
  "store-key": "file.key"
}
`

func (o *outcome) want(t *testing.T, what string, want configured) {
	t.Helper()
	if got := fmt.Sprint(o.configured); o.code != 0 || got != fmt.Sprint(want) || len(o.warnings) > 0 {
		t.Errorf("%s: got %s, code %d, %q, %q, want %v", what, got, o.code, o.warnings, o.stderr, want)
	}
}

// A flag of the command line has precedence over its variable, and that over the
// file, and that over the default.
func TestPrecedence(t *testing.T) {
	file := "--config=" + configFile(t, wholeFile)
	const month = 30 * 24 * time.Hour
	o := configure(t)
	o.want(t, "defaults", configured{Rate: 1, Addr: "default"})
	o = configure(t, file)
	o.want(t, "file", configured{2.5, true, []string{"a,1.json", "b.json"}, month, "file", "file.key"})

	t.Setenv("TOOL_RATE", "7")
	t.Setenv("TOOL_DEV", "false")
	t.Setenv("TOOL_MODEL", `c.json,"d,2.json"`)
	t.Setenv("TOOL_LISTEN_ADDR", "environment")
	t.Setenv("TOOL_RETAIN", "") // as if it were not set
	t.Setenv("TOOL_STORE_KEY_FILE", "environment.key")
	fromEnvironment := configured{7, false, []string{"c.json", "d,2.json"}, month, "environment", "environment.key"}
	o = configure(t, file)
	o.want(t, "environment and file", fromEnvironment)

	o = configure(t, file, "--rate=9", "--model=e.json", "--listen-addr=line", "--dev", "--retain=1h", "--store-key=line.key")
	o.want(t, "command line, environment and file", configured{9, true, []string{"e.json"}, time.Hour, "line", "line.key"})

	t.Setenv("TOOL_CONFIG", strings.TrimPrefix(file, "--config="))
	o = configure(t)
	o.want(t, "file named by the environment", fromEnvironment)
}

// A variable that holds a secret itself has precedence over the file that the
// configuration file names.
func TestSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("TOOL_STORE_KEY", "the secret")
	if o := configure(t, "--config", configFile(t, wholeFile)); o.code != 0 || o.Key != "" {
		t.Errorf("got file %q, code %d, want none", o.Key, o.code)
	}
	t.Setenv("TOOL_STORE_KEY_FILE", "environment.key")
	o := configure(t)
	if o.code != command.ExitUsage || !strings.Contains(o.stderr, "TOOL_STORE_KEY and TOOL_STORE_KEY_FILE exclude each other") || strings.Contains(o.stderr, "secret") {
		t.Errorf("got code %d, %q, want an error that names both variables", o.code, o.stderr)
	}
	o = configure(t, "--store-key", "line.key")
	if o.code != 0 || o.Key != "line.key" {
		t.Errorf("got file %q, code %d, %q, want that of the command line", o.Key, o.code, o.stderr)
	}
}

func TestBadEnvironment(t *testing.T) {
	for name, c := range map[string]struct{ value, says string }{
		"TOOL_RATE":   {"fast", `TOOL_RATE: invalid argument "fast" for "--rate" flag`},
		"TOOL_DEV":    {"yes", `TOOL_DEV: invalid argument "yes" for "--dev" flag`},
		"TOOL_RETAIN": {"30days", "want a duration such as 30d"},
		"TOOL_MODEL":  {`"a`, "TOOL_MODEL is"},
		"TOOL_CONFIG": {"none.json", "none.json: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, c.value)
			if o := configure(t); o.code == 0 || !strings.Contains(o.stderr, c.says) {
				t.Errorf("got code %d, %q, want %q", o.code, o.stderr, c.says)
			}
		})
	}
	t.Setenv("TOOL_RATE", "-1") // which the command itself refuses
	if o := configure(t); !strings.Contains(o.stderr, "want 0 or more (--rate is from TOOL_RATE)\n") {
		t.Errorf("got %q, want the name of the variable", o.stderr)
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Setenv("TOOL_RETIAN", "30d")
	t.Setenv("TOOL_ELSE", "1")
	t.Setenv("TOOL_PORT", "8080")
	t.Setenv("TOOL_EMPTY", "")
	for name, value := range map[string]string{ // as Kubernetes sets them
		"TOOL_SERVICE_HOST":              "10.0.0.1",
		"TOOL_SERVICE_PORT":              "80",
		"TOOL_SERVICE_PORT_HTTP":         "80",
		"TOOL_PORT_80_TCP":               "tcp://10.0.0.1:80",
		"TOOL_PORT_80_TCP_ADDR":          "10.0.0.1",
		"TOOL_METRICS_PORT":              "tcp://10.0.0.2:90",
		"TOOL_METRICS_PORT_90_TCP":       "tcp://10.0.0.2:90",
		"TOOL_METRICS_SERVICE_HOST":      "10.0.0.2",
		"TOOL_METRICS_PORT_90_TCP_PROTO": "tcp",
	} {
		t.Setenv(name, value)
	}
	want := []string{
		"the environment variable TOOL_ELSE is not known and has no effect",
		"the environment variable TOOL_PORT is not known and has no effect",
		`the environment variable TOOL_RETIAN is not known and has no effect, did you mean "TOOL_RETAIN"?`,
	}
	if o := configure(t); o.code != 0 || strings.Join(o.warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("got code %d, warnings %q, want %q", o.code, o.warnings, want)
	}
}

func TestBadConfigFile(t *testing.T) {
	for text, says := range map[string]string{
		"":                                "is empty",
		"[]":                              "line 1: want a JSON object",
		"addr: x":                         "line 1: invalid character",
		"{\n\n":                           "line 3: the file ends",
		"{\n\"rate\": ":                   "line 2: the file ends",
		"{\n\"rate\": 1\n":                "line 3: the file ends",
		"{\n\"rate\": 1,\n}":              "line 3: invalid character",
		"{\n\"rate\": 1\n\"dev\": true}":  "line 3: invalid character",
		"{\n\"rate\": 1}\n{}":             "line 3: there is something after",
		"{\n\"rate\": 1\n,\"rate\": 2}":   `line 3: "rate" stands in line 2 already`,
		"{\n\"raet\": 1}":                 `line 2: "raet" is not known, did you mean "rate"?`,
		"{\n\"--rate\": 1}":               `line 2: "--rate" is not known, did you mean "rate"?`,
		"{\n\"something\": 1}":            "line 2: \"something\" is not known\n",
		"{\"help\": true}":                `line 1: "help" is not known`,
		"{\"config\": \"x\"}":             `line 1: "config" is not known`,
		"{\n\"rate\": \"fast\"}":          `line 2: invalid argument "fast" for "--rate" flag`,
		"{\n\"rate\": [1]}":               `line 2: "rate" takes one value`,
		"{\n\"rate\": null}":              `line 2: the value of "rate" is not text`,
		"{\n\"rate\": {\"a\": 1}}":        `line 2: the value of "rate" is not text`,
		"{\n\"model\": [\n\"a\", [1]]}":   `line 3: the value of "model" is not text`,
		"{\n\"model\": [\"a\"":            "line 2: the file ends",
		"{\n\"retain\": \"30days\"}":      "line 2: invalid argument",
		"{\n\"listen-addr\": \"\xff\"}":   "is not UTF-8",
		"{\n\n\n\"rate\": -1}":            "(--rate is from line 4 of ",
		strings.Repeat(" ", 1<<20) + "{}": "is larger than",
	} {
		o := configure(t, "--config", configFile(t, text))
		if o.code == 0 || !strings.Contains(o.stderr, says) || !strings.Contains(o.stderr, "serve.json") {
			t.Errorf("%.40q: got code %d, %q, want %q", text, o.code, o.stderr, says)
		}
	}
	if o := configure(t, "--config", t.TempDir()); o.code != command.ExitError || !strings.Contains(o.stderr, "is a directory") {
		t.Errorf("got code %d, %q, want an error about the directory", o.code, o.stderr)
	}
	if o := configure(t, "--config", configFile(t, "{}")); o.code != 0 {
		t.Errorf("empty object: got code %d, %q, want 0", o.code, o.stderr)
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add(wholeFile)
	f.Add("{\n\"rate\": [1")
	f.Fuzz(func(t *testing.T, text string) {
		o := configure(t, "--config", configFile(t, text))
		if o.code != 0 && !strings.HasPrefix(o.stderr, "tool: ") {
			t.Errorf("got %q, want an error", o.stderr)
		}
	})
}
