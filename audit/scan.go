package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// maxLine is the maximum length of a line in bytes. The longest record has less than
// 10 KB: five fields of 256 bytes, each at most six bytes in JSON.
const maxLine = 64 << 10

// Fault is an error with the place at which a log was changed or damaged.
type Fault struct {
	File   string
	Line   int // from 1; 0 for a fault without a line
	Reason string
}

// Error returns the file, the line and the reason.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("audit: %s: %s", f.File, f.Reason)
	}
	return fmt.Sprintf("audit: %s: line %d: %s", f.File, f.Line, f.Reason)
}

// Is returns whether target is ErrBroken.
func (f *Fault) Is(target error) bool { return target == ErrBroken }

// ErrBroken matches every Fault, with errors.Is.
var ErrBroken = errors.New("audit: the log is not as it was written")

// scanner reads the records of one file and checks each with the one before.
type scanner struct {
	file   string
	r      *bufio.Reader
	seal   sealer
	last   Head // the last record; Seq 0 for none
	start  int64
	offset int64 // of the next line; start is that of the last record
	line   int
	from   bool // whether the file is read from its beginning

	torn      hash.Hash // of all bytes from the first damaged line after the last record
	tornBytes int64
	tornLine  int    // number of that line
	tornFault error  // fault of that line
	tornSeqs  []Head // of the whole records after it: at most the first and the last
	open      bool   // whether the last line has no line end
}

func newScanner(file string, r io.Reader, seal sealer) *scanner {
	return &scanner{file: file, r: bufio.NewReaderSize(r, maxLine), seal: seal, torn: sha256.New(), from: true}
}

func (s *scanner) fault(line int, err error) error {
	return &Fault{File: s.file, Line: line, Reason: err.Error()}
}

// next returns the next record of the chain, and io.EOF at the end of the file.
// Then tornBytes is the number of bytes after that chain, and open is true if the
// last line has no end. A whole record after a damaged line does not belong to the
// chain: a power failure may leave the end of a write without its middle.
func (s *scanner) next() (*Record, error) {
	r := &Record{}
	for {
		line, err := s.r.ReadSlice('\n')
		if len(line) == 0 && err == io.EOF {
			return nil, io.EOF
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("audit: read %s: %w", s.file, err)
		}
		if !s.open || s.line == 0 {
			s.line++
		}
		s.open = err != nil
		at := s.offset
		s.offset += int64(len(line))
		text := line
		if !s.open {
			text = line[:len(line)-1]
		}
		*r = Record{}
		r.Hash, err = s.seal.open(text, r)
		if err != nil {
			if s.tornBytes == 0 {
				s.tornLine, s.tornFault = s.line, err
			}
			s.tornBytes += int64(len(line))
			s.torn.Write(line)
			continue
		}
		if s.tornBytes > 0 && !s.ends(r) {
			s.tornBytes += int64(len(line))
			s.torn.Write(line)
			s.tornSeqs = append(s.tornSeqs[:min(1, len(s.tornSeqs))], r.at())
			continue
		}
		if err := s.check(r); err != nil {
			return nil, err
		}
		s.last, s.start = r.at(), at
		return r, nil
	}
}

// claimed returns the Note of an ActionResume record on the torn end before it.
func (r *Record) claimed() Note {
	if r.Action == ActionResume && r.Note != nil {
		return *r.Note
	}
	return Note{}
}

// ends returns whether r is the ActionResume record of the torn bytes.
func (s *scanner) ends(r *Record) bool {
	c := r.claimed()
	return c.TornBytes == s.tornBytes && c.TornSHA256 == hex.EncodeToString(s.torn.Sum(nil))
}

// check returns an error unless r may follow the last record.
func (s *scanner) check(r *Record) error {
	claimed := r.claimed()
	if s.tornBytes > 0 {
		s.tornBytes, s.tornSeqs = 0, nil
		s.torn.Reset()
	} else if (s.from || s.last.Seq > 0) && (claimed.TornBytes != 0 || claimed.TornSHA256 != "") {
		return s.fault(s.line, errors.New("what a crash had left before it is no longer there"))
	}
	first := s.from && s.last.Seq == 0
	switch {
	case first && r.Action != ActionBegin:
		return s.fault(s.line, fmt.Errorf("record %d is not the beginning of a file: records before it were deleted", r.Seq))
	case !first && s.from && r.Action == ActionBegin:
		return s.fault(s.line, errors.New("a file begins in the middle of another"))
	case first && (r.Seq == 1) != (r.Prev == noHash):
		return s.fault(s.line, errors.New("the number and the hash before it contradict each other"))
	case first, s.last.Seq == 0:
		return nil
	}
	if err := r.follow(s.last); err != nil {
		return s.fault(s.line, err)
	}
	return nil
}
