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
	// Key is the key of the HMAC-SHA-256. Default: no key, hashes are SHA-256.
	Key []byte

	// Heads are records that the log must have, as they were kept elsewhere.
	Heads []Head
}

// Summary describes a log.
type Summary struct {
	Records     uint64
	First, Last Head
	After       string    // hash of the record before the first; "" if First has the number 1
	Begin, End  time.Time // times of the first and the last record
	Torn        int       // number of torn ends that crashes left
	Headless    int       // number of times that the log was opened without its head
	Head        bool      // whether the last file has a head, which was verified
	Replicas    []string  // the names in the records, in their order
}

// Verify reads the files of a log in their order, and returns their Summary. The
// error is a *Fault for the first record that was changed or damaged. A torn end is
// a fault until the log is opened again; a record that a running service is
// writing at the moment may be one too.
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

// missing returns a fault if a record of heads was not found.
func (v *verifier) missing(name string) error {
	for _, h := range v.heads {
		return &Fault{File: name, Reason: fmt.Sprintf("record %d is not there as it was noted", h.Seq)}
	}
	return nil
}

// verifier is the state of a Verify.
type verifier struct {
	Summary
	seal  sealer
	heads []Head // not found yet
}

// file verifies the next file. It reads the head of the last file only: the first
// record of the next file fixes the end of the others.
func (v *verifier) file(name string, last bool) error {
	var head Head
	if last { // read before the file, which may be growing
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

// content verifies the content of a file. The zero head means that it has none.
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

// count adds a record to the Summary.
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
	if r.Replica != "" && !slices.Contains(v.Replicas, r.Replica) {
		v.Replicas = append(v.Replicas, r.Replica)
	}
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
