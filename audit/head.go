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

// headSuffix is what the name of a head file has behind that of its log.
const headSuffix = ".head"

// Head names the last record of a log at some time. Kept elsewhere, it shows
// later that the log still has that record and all before it. The zero Head is
// that of no record.
type Head struct {
	Seq  uint64
	Hash string // 64 hexadecimal digits
}

// String returns the head as ParseHead takes it: the number, a colon and the
// hash.
func (h Head) String() string { return strconv.FormatUint(h.Seq, 10) + ":" + h.Hash }

// ParseHead reads what String made.
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

// headLine is what a head file holds. Start is where in the log the record
// begins, in bytes. Pad makes all lines equally long, within one sector of a
// disk: one that is written over another is there as a whole or not at all,
// also after a power failure.
type headLine struct {
	Head  string `json:"head"` // keeps this line from being taken for a record
	Start int64  `json:"start"`
	Pad   string `json:"pad,omitempty"`
}

// maxDigits is how many digits the number of a record and Start may have.
const maxDigits = 20 + 19

// writeHead writes a head file over.
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

// maxHead bounds what is read of a head file in bytes. A line has 209.
const maxHead = 4 << 10

// readHead returns the head of the log of a name, and the zero Head if there is
// no head file, or one without content: a power failure while the log is made
// leaves that.
func readHead(name string, seal sealer) (h Head, start int64, err error) {
	name += headSuffix
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, 0, nil
	}
	if err != nil {
		return Head{}, 0, fmt.Errorf("audit: head: %w", err)
	}
	if len(bytes.Trim(data, "\x00")) == 0 { // the size may be there and the content not
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
