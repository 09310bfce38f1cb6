package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// day is 24 hours. Time zones and leap seconds do not count.
const day = 24 * time.Hour

// DurationVar adds the flag name to cmd: a duration as ParseDuration reads it. The
// value of *d at the call is the default.
func DurationVar(cmd *cobra.Command, d *time.Duration, name, usage string) {
	cmd.Flags().Var((*duration)(d), name, usage)
}

// ParseDuration parses a duration as time.ParseDuration does, with days of 24 hours
// as the first unit: "30d", "1d12h", "0.5d", "90s", "-1d". The error names what a
// duration looks like.
func ParseDuration(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, errDuration
		}
		return d, nil
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || strings.Trim(days, "+-.0123456789") != "" || strings.ContainsAny(rest, "+-") {
		return 0, errDuration
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, errDuration
		}
	}
	if math.Signbit(n) {
		d = -d
	}
	total := n*float64(day) + float64(d)
	if math.Abs(total) >= math.MaxInt64 {
		return 0, fmt.Errorf("want at most %d days", math.MaxInt64/int64(day))
	}
	if whole := time.Duration(n); float64(whole) == n {
		return whole*day + d, nil // exact
	}
	return time.Duration(math.Round(n*float64(day))) + d, nil
}

var errDuration = errors.New("want a duration such as 30d, 12h or 1m30s")

// duration is the value of a duration flag.
type duration time.Duration

// String returns the duration for the help, "" for 0.
func (d *duration) String() string {
	v := time.Duration(*d)
	switch {
	case v == 0:
		return ""
	case v%day == 0:
		return fmt.Sprintf("%dd", v/day)
	case v%time.Hour == 0:
		return fmt.Sprintf("%dh", v/time.Hour)
	}
	return v.String()
}

// Set parses s.
func (d *duration) Set(s string) error {
	v, err := ParseDuration(s)
	if err == nil {
		*d = duration(v)
	}
	return err
}

// Type is the name of the kind of value in the help.
func (d *duration) Type() string { return "duration" }
