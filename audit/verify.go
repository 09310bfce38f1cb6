package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// VerifyOptions configures Verify. Nil and zero fields mean the default.
type VerifyOptions struct {
	// Key is the key of the HMAC. Default: none, the hashes are SHA-256.
	Key []byte

	// Heads are records that the log must have, as they were once noted.
	Heads []Head
}

// Summary is what a log holds.
type Summary struct {
	Records     uint64
	First, Last Head
	After       string    // hash of the record before the first; "" if that is the first of all
	Begin, End  time.Time // times of the first and the last record
	Torn        int       // how often a crash left a torn record
	Headless    int       // how often the log was opened without its head
	Head        bool      // whether the last file has a head, which it then fits
}

// Verify reads the files of a log in their order, and returns what they hold,
// or a *Fault: the first place where they are not as they were written. What a
// crash left at the end is a fault until the log was opened again; so may be
// the record that a running service is about to write.
func Verify(names []string, opts *VerifyOptions) (Summary, error) {
	var o VerifyOptions
	if opts != nil {
		o = *opts
	}
	if len(names) == 0 {
		return Summary{}, errors.New("audit: there is no file to verify")
	}
	v := verifier{seal: newSealer(o.Key), heads: slices.Clone(o.Heads)}
	for i, name := range names {
		if err := v.file(name, i == len(names)-1); err != nil {
			return v.Summary, err
		}
	}
	return v.Summary, v.missing(names[len(names)-1])
}

// missing returns a fault if a head was not found.
func (v *verifier) missing(name string) error {
	for _, h := range v.heads {
		return &Fault{File: name, Reason: fmt.Sprintf("record %d is not there as it was noted", h.Seq)}
	}
	return nil
}

// verifier is a Verify under way.
type verifier struct {
	Summary
	seal  sealer
	heads []Head // that were not found yet
}

// file verifies the next file. Only the head of the last one is looked at: the
// others are held by the file behind them.
func (v *verifier) file(name string, last bool) error {
	var head Head
	if last { // before the file, which may be growing
		var err error
		if head, _, err = readHead(name, v.seal); err != nil {
			return err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	return v.content(name, f, head)
}

// content verifies what is in a file with a head; the zero Head is none.
func (v *verifier) content(name string, r io.Reader, head Head) error {
	if head != (Head{}) {
		v.heads = append(v.heads, head)
	}
	s := newScanner(name, r, v.seal)
	if err := v.records(s); err != nil {
		return err
	}
	switch {
	case s.tornBytes > 0 && len(s.tornSeqs) > 0:
		return s.fault(s.tornLine, s.tornFault)
	case s.tornBytes > 0:
		return s.fault(s.tornLine, fmt.Errorf("%w; at the end of a log a crash can leave that", s.tornFault))
	case s.open:
		return s.fault(s.line, errors.New("the line has no end; at the end of a log a crash can leave that"))
	case s.last.Seq == 0:
		return &Fault{File: name, Reason: "it holds no record"}
	case head != (Head{}) && v.Last.Seq < head.Seq:
		return &Fault{File: name, Reason: fmt.Sprintf("its last record is %d and its head says %d: records were deleted from the end", v.Last.Seq, head.Seq)}
	}
	v.Head = head != (Head{})
	return nil
}

// records reads all records of a file.
func (v *verifier) records(s *scanner) error {
	for first := true; ; first = false {
		r, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if first && v.Records > 0 {
			if err := r.follow(v.Last); err != nil {
				return s.fault(s.line, err)
			}
		}
		v.count(r)
	}
}

func (v *verifier) count(r *Record) {
	at := r.at()
	if v.Records == 0 {
		v.First, v.Begin = at, r.Time
		if r.Prev != noHash {
			v.After = r.Prev
		}
	}
	v.Records++
	v.Last, v.End = at, r.Time
	if r.Note != nil {
		if r.Note.TornBytes > 0 {
			v.Torn++
		}
		if r.Note.Headless {
			v.Headless++
		}
	}
	v.heads = slices.DeleteFunc(v.heads, func(h Head) bool { return h == at })
}
