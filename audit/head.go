package audit

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// headSuffix is appended to the name of a log for the name of its head file.
const headSuffix = ".head"

const lockSuffix = ".lock"

// Head names the last record of a log at some time. A Head that is kept elsewhere
// shows later whether the log still has that record and all before it. The zero
// Head names no record.
type Head struct {
	Seq  uint64
	Hash string // 64 hexadecimal digits
}

// String returns the number, a colon and the hash, for ParseHead.
func (h Head) String() string { return strconv.FormatUint(h.Seq, 10) + ":" + h.Hash }

// ParseHead is the inverse of String. It returns an error for any other text.
func ParseHead(text string) (Head, error) {
	number, sum, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 || !isHash(sum) {
		return Head{}, errors.New("audit: a head is a number, a colon and 64 hexadecimal digits")
	}
	return Head{Seq: seq, Hash: sum}, nil
}

func isHash(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == len(noHash) && text == strings.ToLower(text)
}

// headLine is the content of a head file. Start is the offset of the record in the
// log in bytes. Pad makes all lines equally long, within one sector of a disk, so
// that a power failure leaves either the old line or the new one.
type headLine struct {
	Head  string `json:"head"` // not a member of a Record, so that this line is never read as one
	Start int64  `json:"start"`
	Pad   string `json:"pad,omitempty"`
}

// maxDigits is the maximum number of digits of a record's number and Start.
const maxDigits = 20 + 19

// writeHead overwrites a head file.
func writeHead(f *os.File, seal sealer, h Head, start int64) error {
	digits := len(strconv.FormatUint(h.Seq, 10)) + len(strconv.FormatInt(start, 10))
	line, _, err := seal.seal(nil, headLine{h.String(), start, strings.Repeat(" ", 1+maxDigits-digits)})
	if err == nil {
		_, err = f.WriteAt(append(line, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("audit: write head: %w", err)
	}
	return nil
}

// maxHead is the maximum size of a head file in bytes. A line has 209.
const maxHead = 4 << 10

// readHead returns the head of a log. It returns the zero Head for a missing or
// empty head file: a power failure can leave either while the log is created.
func readHead(name string, seal sealer) (h Head, start int64, err error) {
	name += headSuffix
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, 0, nil
	}
	if err != nil {
		return Head{}, 0, fmt.Errorf("audit: head: %w", err)
	}
	if len(bytes.Trim(data, "\x00")) == 0 { // a power failure can leave the size without the content
		return Head{}, 0, nil
	}
	var l headLine
	line, ok := bytes.CutSuffix(data, []byte("\n"))
	switch {
	case !ok || len(data) > maxHead:
		err = errors.New("it is not a whole line")
	default:
		if _, err = seal.open(line, &l); err == nil {
			h, err = ParseHead(l.Head)
		}
	}
	if err != nil || l.Start < 0 {
		return Head{}, 0, &Fault{File: name, Reason: fmt.Sprintf("the head cannot be used: %v", err)}
	}
	return h, l.Start, nil
}
