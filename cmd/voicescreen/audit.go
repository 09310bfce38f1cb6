package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/command"
)

// auditEnv is where the key of the audit log may be.
const auditEnv = "VOICESCREEN_AUDIT_KEY"

// auditFlags are the flags of "serve" for the audit log.
type auditFlags struct{ file, key, after, replica string }

func (a *auditFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.file, "audit", "", "the file of the audit log, see \"voicescreen audit\"")
	cmd.Flags().StringVar(&a.key, "audit-key", "", auditKeyHelp)
	command.SecretFile(cmd, "audit-key", auditEnv)
	cmd.Flags().StringVar(&a.after, "audit-after", "", "the file that a new audit log goes on from")
	cmd.Flags().StringVar(&a.replica, "replica", "", "with --audit: the name of this process in each record (default: the name of the host)")
	command.NoValues(cmd, "replica")
}

const auditKeyHelp = "a file with the key of the audit log, 64 hexadecimal digits (default: " + auditEnv + ", or no key)"

func (a *auditFlags) check() error {
	if a.file == "" && (a.key != "" || a.after != "" || a.replica != "") {
		return command.Usagef("--audit-key, --audit-after and --replica need --audit")
	}
	if a.replica != "" && !replicaName.MatchString(a.replica) {
		return command.Usagef("--replica is %q, want 1 to 64 letters, digits or . _ -", a.replica)
	}
	return nil
}

// replicaName is the form of a replica's name, which records and tables hold.
var replicaName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// name returns the name of this process in the records: --replica, or the beginning of
// the host's name; "" if that has another form.
func (a *auditFlags) name() string {
	if a.replica != "" {
		return a.replica
	}
	host, _ := os.Hostname() // "" after an error
	if host = host[:min(len(host), 64)]; !replicaName.MatchString(host) {
		return ""
	}
	return host
}

// open opens the audit log, nil if there is none, and notes its last record in
// the log of the process, now and with end: kept there, it shows whether
// records were deleted from the end of the file.
func (a *auditFlags) open(logger *slog.Logger) (l *audit.Log, end func() error, err error) {
	if a.file == "" {
		return nil, func() error { return nil }, nil
	}
	key, err := readSecret(a.key, auditEnv)
	if err != nil {
		return nil, nil, err
	}
	l, err = audit.Open(a.file, &audit.Options{Key: key, After: a.after, Replica: a.name()})
	if err != nil {
		return nil, nil, err
	}
	logger.Info("audit log opened", "head", l.Head())
	return l, func() error {
		head, err := l.Close()
		logger.Info("audit log closed", "head", head)
		return err
	}, nil
}

// note records an event of the command line and closes the log; without a log it
// does nothing.
func note(l *audit.Log, e audit.Event) error {
	if l == nil {
		return nil
	}
	err := l.Append(e)
	_, cerr := l.Close()
	return errors.Join(err, cerr)
}

// openQuiet is open for a command that notes one event.
func (a *auditFlags) openQuiet() (*audit.Log, error) {
	l, _, err := a.open(slog.New(slog.DiscardHandler))
	if errors.Is(err, audit.ErrLocked) {
		return nil, fmt.Errorf("%w: while the service runs, name another file", err)
	}
	return l, err
}

func newAudit() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "audit",
		Short: "Verify the audit log of a service",
		Long: `With "serve --audit FILE" a service records every call, one JSON object a line: the
time, the account, the ID of the key, the action, the session and the status. A
record holds nothing of a patient. Sessions that --retain erased are recorded with
the action "retention". Each record names the replica that wrote it, and holds the hash of the record before it. With
--audit-key the hashes need a key, and cannot be computed again without it. One
service at a time may write a file: each replica has its own. "keys create", "keys revoke" and "db delete-user"
take --audit too, for a file of their own or while the service is stopped.

FILE.head names the last record. To begin a new file, start the service with
another --audit and with --audit-after FILE.`,
		Example: "  voicescreen audit verify audit.log",
	})
	cmd.AddCommand(newAuditVerify())
	return cmd
}

func newAuditVerify() *cobra.Command {
	var (
		key   string
		heads []string
		each  bool
	)
	cmd := &cobra.Command{
		Use:   "verify FILE…",
		Short: "Find records that were changed, deleted or moved",
		Long: `Verify the files of an audit log, in their order, and name the first line that
differs from what was written. The file's head, FILE.head, or --head shows records
that were deleted from the end. A person who can write the file can put back an old
copy of both. The number and the hash that the service logs when it starts and ends,
and that this command prints, show that too.

With --each every file is a whole log, of another replica. Verify a log of several
files, or one with --head, by itself.

Without a key, a person who can write the files can compute all hashes again.`,
		Example: "  voicescreen audit verify audit.log\n" +
			"  voicescreen audit verify --each web-1/audit.log web-2/audit.log web-3/audit.log\n" +
			"  voicescreen audit verify --audit-key audit.key --head 1234:0f3c… audit-2025.log audit-2026.log",
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if each && len(heads) > 0 {
				return command.Usagef("--head does not go with --each: name the log that has it")
			}
			opts := &audit.VerifyOptions{}
			for _, text := range heads {
				h, err := audit.ParseHead(text)
				if err != nil {
					return command.Usagef("--head: %w", err)
				}
				opts.Heads = append(opts.Heads, h)
			}
			warnReadable(cmd.ErrOrStderr(), key)
			var err error
			if opts.Key, err = readSecret(key, auditEnv); err != nil {
				return err
			}
			if each {
				return verifyEach(cmd, args, opts)
			}
			s, err := audit.Verify(args, opts)
			if err != nil {
				return err
			}
			return printAudit(cmd.OutOrStdout(), &s, len(opts.Key) > 0)
		},
	}
	cmd.Flags().StringVar(&key, "audit-key", "", auditKeyHelp)
	cmd.Flags().StringArrayVar(&heads, "head", nil, "a record that the log must have, as it was once printed: NUMBER:HASH (repeatable)")
	command.NoValues(cmd, "head")
	cmd.Flags().BoolVar(&each, "each", false, "each file is a log of its own, of another replica")
	return cmd
}

// verifyEach verifies logs one by one, all of them, and returns the faults.
func verifyEach(cmd *cobra.Command, names []string, opts *audit.VerifyOptions) error {
	var faults error
	for _, name := range names {
		s, err := audit.Verify([]string{name}, opts)
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", name); err != nil {
			return err
		}
		if err := printAudit(cmd.OutOrStdout(), &s, len(opts.Key) > 0); err != nil {
			return err
		}
	}
	return faults
}

// printAudit prints what a log holds that is as it was written, and what that
// does not show.
func printAudit(w io.Writer, s *audit.Summary, keyed bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records, %d to %d, from %s to %s: as they were written\n", s.Records, s.First.Seq, s.Last.Seq,
		s.Begin.Format(time.DateTime), s.End.Format(time.DateTime))
	if len(s.Replicas) > 0 {
		fmt.Fprintf(&b, "of %s\n", strings.Join(s.Replicas, ", "))
	}
	fmt.Fprintf(&b, "head %s\n", s.Last)
	if s.After != "" {
		fmt.Fprintf(&b, "goes on from %d:%s\n", s.First.Seq-1, s.After)
	}
	if s.Torn > 0 {
		fmt.Fprintf(&b, "a crash cut a record off, %d times\n", s.Torn)
	}
	if s.Headless > 0 {
		fmt.Fprintf(&b, "the log was opened without its head file, %d times: records before that may have been deleted\n", s.Headless)
	}
	if !s.Head {
		b.WriteString("there is no head file: it cannot be seen whether records were deleted from the end\n")
	}
	if !keyed {
		b.WriteString("without a key: who can write the files could have made them anew\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
