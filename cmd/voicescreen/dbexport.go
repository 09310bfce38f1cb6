package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// The parts of a session that an export may have.
const (
	partSessions = "sessions"
	partResults  = "results"
	partLabels   = "labels"
	partFeatures = "features"
)

// exportOptions are the flags of "db export".
type exportOptions struct {
	filter sessionFilter
	parts  []string
	csv    bool
	out    string
}

func newDBExport() *cobra.Command {
	var o exportOptions
	cmd := dbCommand("export PATH", "Write sessions, results and labels as JSON or CSV",
		`Write the sessions of a database, of all accounts or of those that the flags choose,
to standard output, or with -o to a new file that only its owner can read. They are in
the order of their identifiers. A database file must not be in use, and the export is
as of one moment: of a running service export a backup. With postgres://… the servers go
on, and a session that is made or erased meanwhile may be written or not.

--parts says what is written, of sessions, results, labels and features. Without
sessions only those are written that have one of the other parts. Each session is one
line, a JSON object:

  always    account, id, user_id, state, created_at, updated_at, product
  sessions  metadata, submitted_at, channel, fixed_gain, baseline
  results   scores, as in "analyze --json", or failure
  labels    labels: phq_2, phq_9, gad_7 (the items), depression_binary, updated_at
  features  features, name: value; undefined ones are absent

With --csv each session is one row under a header:

  always    account, id, user_id, state, created_at, updated_at, product
  sessions  submitted_at, channel, fixed_gain, baseline, age, gender, race, ethnicity,
            zipcode, language (whether the first one is English), weight
  results   error and error_message of a failure, and the columns of the scores as in
            "analyze --csv"
  labels    phq_2_total, phq_2_items, phq_9_total, phq_9_items, gad_7_total,
            gad_7_items, depression_binary, labels_updated_at
  features  a column for each

`+csvHelp+`

The output is data of patients. Records that are damaged are left out and counted in
an error.`,
		"export clinic.db --account clinic-a --since 2026-01-01 --csv -o clinic-a.csv",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd, args[0], opts)
		})
	o.filter.add(cmd)
	cmd.Flags().StringSliceVar(&o.parts, "parts", []string{partSessions, partResults, partLabels}, "what to write, of sessions,results,labels,features")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "write CSV in place of JSON, one row a session")
	cmd.Flags().StringVarP(&o.out, "out", "o", "", "a new file to write to (default standard output)")
	return cmd
}

func (o *exportOptions) check(cmd *cobra.Command) error {
	if len(o.parts) == 0 {
		return command.Usagef("--parts is empty, want sessions, results, labels or features")
	}
	for _, p := range o.parts {
		if !slices.Contains([]string{partSessions, partResults, partLabels, partFeatures}, p) {
			return command.Usagef("--parts has %q, want sessions, results, labels or features", p)
		}
	}
	return o.filter.parse(cmd)
}

func (o *exportOptions) run(cmd *cobra.Command, path string, opts *bolt.Options) error {
	return withStore(cmd.Context(), path, opts, func(st store.Store) error {
		n := 0
		var damaged error
		write := func(w io.Writer) (err error) {
			if n, err = o.export(cmd, st, w); isDamaged(err) {
				damaged, err = err, nil // the export has all others
			}
			return err
		}
		if o.out == "" || o.out == "-" {
			if err := write(cmd.OutOrStdout()); err != nil {
				return err
			}
			return damaged
		}
		out, err := command.NewPrivateOutput(o.out)
		if err != nil {
			return err
		}
		defer out.Discard()
		if err := out.Finish(write); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", o.out, command.Count(n, "session")); err != nil {
			return err
		}
		return damaged
	})
}

// export writes what the flags choose of a store, and returns how many sessions that
// were.
func (o *exportOptions) export(cmd *cobra.Command, st scanner, w io.Writer) (n int, err error) {
	b := bufio.NewWriterSize(w, 1<<16)
	if o.csv {
		if err := o.header().write(b); err != nil {
			return 0, err
		}
	}
	var left store.DamagedError // of sessions that have no JSON
	err = o.filter.eachSession(cmd.Context(), st, func(s *store.Session) error {
		if !o.chosen(s) {
			return nil
		}
		if o.csv {
			n++
			return o.row(s).write(b)
		}
		line, err := json.Marshal(o.object(s))
		if err != nil { // of a value that no score of this program has
			return left.Add(&store.DamagedError{Records: 1, Err: fmt.Errorf("session %q: %w", s.ID, err)})
		}
		n++
		_, err = b.Write(append(line, '\n'))
		return err
	})
	if err := left.Add(err); err != nil {
		return n, err
	}
	if err := b.Flush(); err != nil {
		return n, err
	}
	if left.Records > 0 {
		return n, &left
	}
	return n, nil
}

func (o *exportOptions) has(part string) bool { return slices.Contains(o.parts, part) }

// chosen reports whether a session has one of the parts.
func (o *exportOptions) chosen(s *store.Session) bool {
	return o.has(partSessions) ||
		o.has(partResults) && (len(s.Scores) > 0 || s.Failure != nil) ||
		o.has(partLabels) && labelNames(&s.Labels) != "-" ||
		o.has(partFeatures) && len(s.Features) > 0
}

// object returns the parts of a session. The state of the queue, which means nothing
// elsewhere, is in none.
func (o *exportOptions) object(s *store.Session) *store.Session {
	to := &store.Session{
		Account: s.Account, ID: s.ID, UserID: s.UserID, Status: s.Status,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Product: s.Product,
	}
	if o.has(partSessions) {
		to.Metadata, to.SubmittedAt = s.Metadata, s.SubmittedAt
		to.Channel, to.FixedGain, to.Baseline = s.Channel, s.FixedGain, s.Baseline
	}
	if o.has(partResults) {
		to.Scores, to.Failure = s.Scores, s.Failure
	}
	if o.has(partLabels) {
		to.Labels = s.Labels
	}
	if o.has(partFeatures) {
		to.Features = s.Features
	}
	return to
}

// header returns the columns of the table.
func (o *exportOptions) header() csvRow {
	head := csvRow{"account", "id", "user_id", "state", "created_at", "updated_at", "product"}
	if o.has(partSessions) {
		head = append(head, "submitted_at", "channel", "fixed_gain", "baseline",
			"age", "gender", "race", "ethnicity", "zipcode", "language", "weight")
	}
	if o.has(partResults) {
		head = append(head, "error", "error_message")
		for _, c := range scoredCategories {
			head = append(head, scoreHeader(c)...)
		}
	}
	if o.has(partLabels) {
		head = append(head, "phq_2_total", "phq_2_items", "phq_9_total", "phq_9_items", "gad_7_total", "gad_7_items",
			"depression_binary", "labels_updated_at")
	}
	if o.has(partFeatures) {
		head = append(head, featuresHeader()[2:]...)
	}
	return head
}

// row returns the fields of a session.
func (o *exportOptions) row(s *store.Session) (r csvRow) {
	r.text(s.Account)
	r.text(s.ID)
	r.text(s.UserID)
	r.named(s.Status)
	r.time(s.CreatedAt)
	r.time(s.UpdatedAt)
	r.named(s.Product)
	if o.has(partSessions) {
		r.about(s)
	}
	if o.has(partResults) {
		r.result(s)
	}
	if o.has(partLabels) {
		r.labels(&s.Labels)
	}
	if o.has(partFeatures) {
		for _, v := range features.VoiceSchema().Vector(s.Features).Values {
			r.number(v)
		}
	}
	return r
}

// about adds what is known of a session before the result.
func (r *csvRow) about(s *store.Session) {
	r.time(s.SubmittedAt)
	r.given(s.Channel)
	r.truth(s.FixedGain)
	r.truth(s.Baseline)
	m := &s.Metadata
	r.given(m.Age)
	r.named(m.Gender)
	r.named(m.Race)
	r.named(m.Ethnicity)
	r.text(m.Zipcode)
	if m.English != nil {
		r.truth(*m.English)
	} else {
		r.empty(1)
	}
	r.given(m.Weight)
}

// result adds the result of a session.
func (r *csvRow) result(s *store.Session) {
	if s.Failure != nil {
		r.text(s.Failure.Code)
		r.text(s.Failure.Message)
	} else {
		r.empty(2)
	}
	for _, c := range scoredCategories {
		r.score(c, s.Scores)
	}
}

// labels adds the labels of a session, the items of a questionnaire with spaces
// between them.
func (r *csvRow) labels(l *screen.Labels) {
	for _, items := range [][]int{l.PHQ2, l.PHQ9, l.GAD7} {
		if len(items) == 0 {
			r.empty(2)
			continue
		}
		total, texts := 0, make([]string, len(items))
		for i, n := range items {
			total += n
			texts[i] = strconv.Itoa(n)
		}
		r.count(total)
		r.text(strings.Join(texts, " "))
	}
	r.named(l.Depression)
	r.time(l.UpdatedAt)
}
