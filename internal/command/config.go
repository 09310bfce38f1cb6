package command

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagConfig is the flag for the configuration file.
const flagConfig = "config"

// secretEnv is the annotation of a flag that SecretFile names.
const secretEnv = "voicescreen_secret_env"

// SecretFile says that the flag names a file with a secret which the environment
// variable env may hold itself. The variable with the name of the file is then env
// with _FILE at the end.
func SecretFile(cmd *cobra.Command, flag, env string) {
	if err := cmd.Flags().SetAnnotation(flag, secretEnv, []string{env}); err != nil {
		panic(err) // there is no such flag
	}
}

// Configurable lets environment variables and a file set the flags of cmd, before it
// runs run with warnings about the environment. It is called after all flags were
// added.
//
// Each flag has a variable: prefix and its name in capitals, with _ for -, such as
// VOICESCREEN_MAX_UPLOAD for --max-upload. In the value of a repeatable flag commas
// separate, as in a line of CSV. An empty variable counts as not set. An unknown
// variable with the prefix has no effect and gives a warning with the name that it
// resembles. It is no error, since the environment belongs to others too: other
// programs, and Kubernetes, which describes a service of that name in variables that
// give no warning.
//
// The flag --config, which Configurable adds, names the file: a JSON object whose
// members are named as flags are, without dashes, and hold a string, a number, true
// or false, or for a repeatable flag a list of strings. Anything else is an error in
// the command line that names the line of the file.
//
// The command line has precedence over the environment, and that over the file.
func Configurable(cmd *cobra.Command, prefix string, run func(cmd *cobra.Command, warnings []string) error) {
	var path string
	cmd.Flags().StringVar(&path, flagConfig, "", "a JSON file with values of these flags, such as {\"addr\": \"127.0.0.1:8080\", \"retain\": \"30d\"}")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c := configuration{cmd: cmd, prefix: prefix, from: map[string]string{}}
		warnings, err := c.readEnvironment(os.Environ())
		if err != nil {
			return err
		}
		if path != "" {
			if err := c.readFile(path); err != nil {
				return err
			}
		}
		return c.explain(run(cmd, warnings))
	}
}

// configuration sets the flags of a command that do not stand in its command line.
type configuration struct {
	cmd    *cobra.Command
	prefix string            // of environment variables
	from   map[string]string // where the value of a flag is from, for those that are not from the command line
}

// variable returns the name of the environment variable of a flag, and of the one
// that holds the secret itself where the flag names the file of a secret.
func (c *configuration) variable(f *pflag.Flag) (name, secret string) {
	if env := f.Annotations[secretEnv]; env != nil {
		return env[0] + "_FILE", env[0]
	}
	return c.prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")), ""
}

// settable returns the flags of the command but --help.
func (c *configuration) settable() []*pflag.Flag {
	var flags []*pflag.Flag
	c.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			flags = append(flags, f)
		}
	})
	return flags
}

// readEnvironment sets the flags that have a variable in environ, and returns
// warnings about unknown variables, in the order of their names.
func (c *configuration) readEnvironment(environ []string) (warnings []string, err error) {
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && strings.HasPrefix(name, c.prefix) {
			values[name] = value
		}
	}
	var known []string
	for _, f := range c.settable() {
		name, secret := c.variable(f)
		known = append(known, name)
		if secret != "" {
			known = append(known, secret)
		}
		value, set := values[name]
		switch {
		case f.Changed:
		case set && secret != "" && values[secret] != "":
			return nil, Usagef("%s and %s exclude each other", secret, name)
		case set:
			list := []string{value}
			if repeatable(f) {
				if list, err = csv.NewReader(strings.NewReader(value)).Read(); err != nil {
					return nil, Usagef("%s is %q, want values with commas between them", name, value)
				}
			}
			if err := c.set(f, list, name); err != nil {
				return nil, Usagef("%s: %w", name, err)
			}
		case secret != "" && values[secret] != "":
			c.from[f.Name] = secret // has precedence over the file
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) && !ofKubernetes(name, values[name]) {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is not known and has no effect%s", name, meant(name, known)))
		}
	}
	return warnings, nil
}

var (
	serviceName = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$`)
	portName    = regexp.MustCompile(`_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)
)

// ofKubernetes returns whether a variable is one of those that describe a service to
// each container: VOICESCREEN_SERVICE_HOST, VOICESCREEN_PORT_80_TCP_ADDR and others.
// VOICESCREEN_PORT is one if it holds a URL such as tcp://10.0.0.1:80.
func ofKubernetes(name, value string) bool {
	if strings.HasSuffix(name, "_PORT") && !strings.Contains(value, "://") {
		return serviceName.MatchString(name)
	}
	return serviceName.MatchString(name) || portName.MatchString(name)
}

// maxConfig is the largest size of a configuration file in bytes. Chosen: a thousand
// times what all flags need.
const maxConfig = 1 << 20

// readFile sets the flags that stand in the file at path and nowhere else.
func (c *configuration) readFile(path string) error {
	data, err := readLimited(path, maxConfig)
	if err != nil {
		return fmt.Errorf("configuration %s: %w", path, err)
	}
	settings, err := parseSettings(data)
	if err != nil {
		return Usagef("configuration %s: %w", path, err)
	}
	var names []string
	for _, f := range c.settable() {
		if f.Name != flagConfig {
			names = append(names, f.Name)
		}
	}
	for _, s := range settings {
		where := fmt.Sprintf("configuration %s: line %d", path, s.line)
		f := c.cmd.Flags().Lookup(s.name)
		switch {
		case !slices.Contains(names, s.name):
			return Usagef("%s: %q is not known%s", where, s.name, meant(s.name, names))
		case s.list && !repeatable(f):
			return Usagef("%s: %q takes one value, not a list", where, s.name)
		case f.Changed, c.from[s.name] != "":
			continue
		}
		if err := c.set(f, s.values, fmt.Sprintf("line %d of %s", s.line, path)); err != nil {
			return Usagef("%s: %w", where, err)
		}
	}
	return nil
}

// readLimited reads a file of at most limit bytes. Errors do not hold the path.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := openFile(path, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, Bare(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d bytes", limit)
	}
	return data, nil
}

// repeatable returns whether a flag takes several values.
func repeatable(f *pflag.Flag) bool {
	_, ok := f.Value.(pflag.SliceValue)
	return ok
}

// set sets a flag to the values that are from the place named.
func (c *configuration) set(f *pflag.Flag, values []string, from string) error {
	for _, v := range values {
		if err := c.cmd.Flags().Set(f.Name, v); err != nil {
			return err
		}
	}
	c.from[f.Name] = from
	return nil
}

// explain adds to an error in the command line where the flags that it names are
// from.
func (c *configuration) explain(err error) error {
	if !IsUsage(err) {
		return err
	}
	for _, f := range c.settable() {
		named := regexp.MustCompile(`--` + regexp.QuoteMeta(f.Name) + `([^-\w]|$)`)
		if from := c.from[f.Name]; from != "" && named.MatchString(err.Error()) {
			err = Usagef("%w (--%s is from %s)", err, f.Name, from)
		}
	}
	return err
}

// meant asks whether the name among known that differs from name in at most two
// letters was meant. It is "" without such a name.
func meant(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// distance is the Levenshtein distance of two texts in bytes: the least number of
// insertions, deletions and replacements that make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the beginning of a from those of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
