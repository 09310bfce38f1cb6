package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// deployed is a command line in a file of deploy, with the variables that it gets.
type deployed struct {
	where string
	args  []string
	env   map[string]string // those of voicescreen
}

// yamlFile decodes each document of a YAML file.
func yamlFile[T any](t *testing.T, path string) (docs []T) {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(string(read(t, path)))); ; {
		var doc T
		if err := d.Decode(&doc); err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("%s: %v", path, err)
			}
			return docs
		}
		docs = append(docs, doc)
	}
}

// ours returns the variables of voicescreen.
func ours(env map[string]string) map[string]string {
	found := map[string]string{}
	for name, value := range env {
		if strings.HasPrefix(name, envPrefix) {
			found[name] = value
		}
	}
	return found
}

const deployDir = "../../deploy/"

// ofCompose returns the command lines of compose.yaml.
func ofCompose(t *testing.T) (found []deployed) {
	t.Helper()
	type service struct {
		Image       string
		Command     []string
		Environment map[string]string
	}
	for _, file := range yamlFile[struct{ Services map[string]service }](t, deployDir+"compose.yaml") {
		for name, s := range file.Services {
			if s.Image == "voicescreen" {
				found = append(found, deployed{"compose.yaml, service " + name, s.Command, ours(s.Environment)})
			}
		}
	}
	return found
}

// ofKubernetes returns the command lines of the deployments.
func ofKubernetes(t *testing.T) (found []deployed) {
	t.Helper()
	type container struct {
		Image, Name string
		Args        []string
		Env         []struct{ Name string }
	}
	type object struct {
		Kind string
		Data map[string]string
		Spec struct {
			Template struct {
				Spec struct{ Containers []container }
			}
		}
	}
	shared := yamlFile[object](t, deployDir+"kubernetes/config.yaml")[0].Data
	files, err := filepath.Glob(deployDir + "kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, o := range yamlFile[object](t, file) {
			for _, c := range o.Spec.Template.Spec.Containers {
				env := ours(shared)
				for _, e := range c.Env {
					if strings.HasPrefix(e.Name, envPrefix) {
						env[e.Name] = ""
					}
				}
				found = append(found, deployed{filepath.Base(file) + ", container " + c.Name, c.Args, env})
			}
		}
	}
	return found
}

// ofSystemd returns the command lines of the units, with their files of variables.
func ofSystemd(t *testing.T) (found []deployed) {
	t.Helper()
	files, err := filepath.Glob(deployDir + "systemd/*.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		unit := string(read(t, file))
		line := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/voicescreen (.*)$`).FindStringSubmatch(unit)
		env := regexp.MustCompile(`(?m)^EnvironmentFile=/etc/voicescreen/(.*)$`).FindStringSubmatch(unit)
		if line == nil || env == nil {
			t.Fatalf("%s: got no ExecStart of voicescreen, or no file of variables", file)
		}
		settings := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(\w+)=(.*)$`).FindAllStringSubmatch(string(read(t, deployDir+"systemd/"+env[1])), -1) {
			settings[m[1]] = m[2]
		}
		found = append(found, deployed{filepath.Base(file), strings.Fields(line[1]), ours(settings)})
	}
	return found
}

// ofImage returns the health check of the Dockerfile, and its command, to which the
// variables of the image apply.
func ofImage(t *testing.T) (found []deployed) {
	t.Helper()
	text := string(read(t, "../../Dockerfile"))
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ENV (\w+)=(.*)$`).FindAllStringSubmatch(text, -1) {
		env[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^ *CMD (\[.*\])$`).FindAllStringSubmatch(text, -1) {
		var args []string
		if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
			t.Fatalf("Dockerfile: %s: %v", m[0], err)
		}
		d := deployed{where: "Dockerfile", args: args, env: ours(env)}
		if args[0] == "/voicescreen" {
			d.args, d.env = args[1:], nil
		}
		found = append(found, d)
	}
	return found
}

// programInLine finds the program in a line of an example: at its beginning, as another
// user, or in a container.
var programInLine = regexp.MustCompile(`^(?:.*-- /?|docker run .* )?voicescreen (.*)|^docker compose run --rm api-1 (.*)`)

// ofPages returns the command lines in the examples of the pages.
func ofPages(t *testing.T) (found []deployed) {
	t.Helper()
	for _, page := range []string{"../../docs/OPERATIONS.md", deployDir + "README.md"} {
		for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)\n```").FindAllStringSubmatch(string(read(t, page)), -1) {
			for line := range strings.SplitSeq(strings.ReplaceAll(block[1], "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				if m := programInLine.FindStringSubmatch(line); m != nil {
					found = append(found, deployed{where: filepath.Base(page), args: strings.Fields(strings.ReplaceAll(m[1]+m[2], "'", ""))})
				}
			}
		}
	}
	return found
}

// Each flag and each variable of voicescreen in a file of deploy is one that the command
// knows, with a value that it takes.
func TestDeployedCommandsAreKnown(t *testing.T) {
	lists := map[string][]deployed{
		"compose.yaml": ofCompose(t), "kubernetes": ofKubernetes(t), "systemd": ofSystemd(t), "Dockerfile": ofImage(t), "pages": ofPages(t),
	}
	for list, least := range map[string]int{"compose.yaml": 4, "kubernetes": 2, "systemd": 3, "Dockerfile": 2, "pages": 12} {
		if len(lists[list]) < least {
			t.Errorf("%s: got %d command lines, want at least %d: the pattern does not match any more", list, len(lists[list]), least)
		}
		for _, d := range lists[list] {
			for _, problem := range d.problems() {
				t.Errorf("%s: voicescreen %s: %s", d.where, strings.Join(d.args, " "), problem)
			}
		}
	}
}

// The check of the files finds what it is for.
func TestDeployedFaultsAreSeen(t *testing.T) {
	for want, d := range map[string]deployed{
		"unknown command":                 {args: []string{"serv"}},
		"unknown flag: --worker":          {args: []string{"serve", "--worker", "0"}},
		"invalid argument":                {args: []string{"serve", "--retain", "month"}},
		"VOICESCREEN_RETIAN is not known": {args: []string{"serve"}, env: map[string]string{"VOICESCREEN_RETIAN": "30d"}},
		`VOICESCREEN_RETAIN: invalid`:     {args: []string{"serve"}, env: map[string]string{"VOICESCREEN_RETAIN": "month"}},
		"VOICESCREEN_DB has no effect":    {args: []string{"keys", "list"}, env: map[string]string{"VOICESCREEN_DB": "x"}},
	} {
		if got := strings.Join(d.problems(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%v: got %q, want %q", d.args, got, want)
		}
	}
	good := deployed{args: []string{"serve", "--retain", "30d"}, env: map[string]string{
		"VOICESCREEN_STORE_KEY": "", "VOICESCREEN_AUDIT_KEY_FILE": "x", "VOICESCREEN_MODEL": "a.json,b.json"}}
	if got := good.problems(); len(got) > 0 {
		t.Errorf("got %v, want no faults", got)
	}
}

// problems returns what is wrong with a command line and its variables.
func (d *deployed) problems() (problems []string) {
	cmd, rest, err := newRoot().Find(d.args)
	if err != nil {
		return []string{err.Error()}
	}
	if cmd.HasSubCommands() {
		return []string{"unknown command"}
	}
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		problems = append(problems, err.Error())
	}
	if cmd.Flags().Lookup("config") == nil {
		for name := range d.env {
			problems = append(problems, name+" has no effect on this command")
		}
		return problems
	}
	for name, value := range d.env {
		f := flagOf(cmd, name)
		switch {
		case f == nil:
			problems = append(problems, name+" is not known")
		case value != "":
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				problems = append(problems, name+": "+err.Error())
			}
		}
	}
	return problems
}

// flagOf returns the flag that a variable sets, nil for none.
func flagOf(cmd *cobra.Command, variable string) (found *pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names := []string{envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
		if secret := f.Annotations["voicescreen_secret_env"]; secret != nil {
			names = []string{secret[0], secret[0] + "_FILE"}
		}
		if slices.Contains(names, variable) {
			found = f
		}
	})
	return found
}
