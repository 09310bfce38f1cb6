package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What the XML of a workbook may be. Chosen: Excel's longest text has 32,767
// characters, its longest tag some 2,000 bytes, and cells lie 6 deep.
const (
	maxText  = 32 << 10 // bytes of one text
	maxTag   = 16 << 10 // bytes of one tag
	maxDepth = 32
)

var (
	errText = fmt.Errorf("a text has more than %d bytes", maxText)
	errXML  = errors.New("it is not well-formed XML")
)

// markup reads XML a tag at a time, as much of it as workbooks are made of:
// elements, attributes, text, references to characters, comments, processing
// instructions and CDATA. encoding/xml takes a hundred bytes and more of
// memory for each element, of which a file of some kB can unpack to millions.
type markup struct {
	r    *bufio.Reader
	path []byte // of the element, as "/worksheet/sheetData"; after its end still with it
	pop  bool   // whether the last element of path is over
	self bool   // whether the tag ends its element, which is still to be told
	tag  []byte // between its brackets
	text []byte // of the element so far: what stands between its tags and those of its parts

	value []byte // of the attribute that was asked for last
}

// lines reads with every end of a line as \n, as XML is to be read before
// anything else (XML 1.0, section 2.11).
type lines struct {
	r  io.Reader
	cr bool // whether the last byte was \r
}

func (l *lines) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	kept := b[:0]
	for _, c := range b[:n] {
		switch {
		case c == '\r':
			kept = append(kept, '\n')
		case c != '\n' || !l.cr:
			kept = append(kept, c)
		}
		l.cr = c == '\r'
	}
	return len(kept), err
}

// event is what next found.
type event uint8

const (
	begin event = iota + 1 // of an element
	end                    // of one, whose text is in text if it has no parts
)

// next goes to the next beginning or end of an element. The error is io.EOF
// behind the last.
func (m *markup) next() (event, error) {
	if m.pop {
		m.path, m.pop = m.path[:bytes.LastIndexByte(m.path, '/')], false
		m.text = m.text[:0]
	}
	if m.self {
		m.self, m.pop = false, true
		return end, nil
	}
	for {
		if err := m.readText(); err == io.EOF && len(m.path) == 0 {
			return 0, io.EOF
		} else if err != nil {
			return 0, malformed(err)
		}
		if err := m.readTag(); err != nil {
			return 0, malformed(err)
		}
		switch {
		case m.tag[0] == '!' || m.tag[0] == '?':
			continue
		case m.tag[0] == '/':
			name := bytes.TrimRight(m.tag[1:], " \t\r\n")
			if !bytes.Equal(local(name), m.path[bytes.LastIndexByte(m.path, '/')+1:]) || len(m.path) == 0 {
				return 0, errXML
			}
			m.pop = true
			return end, nil
		}
		return begin, m.enter()
	}
}

// enter adds the element of the tag to the path.
func (m *markup) enter() error {
	if m.tag, m.self = bytes.CutSuffix(m.tag, []byte("/")); len(m.tag) == 0 {
		return errXML
	}
	name := m.tag
	if i := bytes.IndexAny(name, " \t\r\n"); i >= 0 {
		name = name[:i]
	}
	if name = local(name); len(name) == 0 || bytes.IndexByte(name, '/') >= 0 {
		return errXML
	}
	m.path = append(append(m.path, '/'), name...)
	m.text = m.text[:0]
	if bytes.Count(m.path, []byte{'/'}) > maxDepth || len(m.path) > maxTag {
		return errors.New("it is nested too deep")
	}
	return nil
}

// local is a name without its namespace.
func local(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

// malformed says that a file ends early.
func malformed(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readText adds what comes before the next tag to the text.
func (m *markup) readText() error {
	start := len(m.text)
	for {
		b, err := m.r.ReadSlice('<')
		b = bytes.TrimSuffix(b, []byte{'<'})
		if len(m.path) > 0 {
			m.text = append(m.text, b...)
		}
		if err == bufio.ErrBufferFull {
			err = nil
			if len(m.text) <= maxText {
				continue
			}
		}
		if len(m.text) > maxText {
			return errText
		}
		if err != nil {
			return err
		}
		m.text, err = resolve(m.text, start)
		return err
	}
}

// resolve puts characters in the place of the references to them in text, from
// start on. No reference is shorter than its character.
func resolve(text []byte, start int) ([]byte, error) {
	if !utf8.Valid(text[start:]) {
		return text, errXML
	}
	out, rest := text[:start], text[start:]
	for {
		i := bytes.IndexByte(rest, '&')
		if i < 0 {
			return append(out, rest...), nil
		}
		out = append(out, rest[:i]...)
		name, after, ok := bytes.Cut(rest[i+1:], []byte{';'})
		r := character(string(name))
		if !ok || r < 0 {
			return text, errXML
		}
		out, rest = utf8.AppendRune(out, r), after
	}
}

// character is what a reference refers to, −1 if nothing.
func character(name string) rune {
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			digits, base = hex, 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
			return -1
		}
		return rune(n)
	}
	switch name {
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "amp":
		return '&'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	return -1
}

// readTag reads from behind the bracket that opens a tag to the one that closes
// it. Of comments nothing is kept, and CDATA is text.
func (m *markup) readTag() error {
	m.tag = m.tag[:0]
	var quote byte
	for {
		c, err := m.r.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case quote == 0 && c == '>':
			if len(m.tag) == 0 {
				return errXML
			}
			return nil
		case quote == 0 && (c == '"' || c == '\'') && len(m.tag) > 0 && m.tag[0] != '?' && m.tag[0] != '!':
			quote = c
		case c == quote:
			quote = 0
		}
		if m.tag = append(m.tag, c); len(m.tag) > maxTag {
			return fmt.Errorf("a tag has more than %d bytes", maxTag)
		}
		switch string(m.tag[:min(len(m.tag), len("![CDATA["))]) {
		case "!--":
			m.tag = m.tag[:1]
			return m.until("-->", func(byte) {})
		case "![CDATA[":
			m.tag = m.tag[:1]
			err := m.until("]]>", func(c byte) { m.text = append(m.text, c) })
			if err == nil && !utf8.Valid(m.text) {
				err = errXML
			}
			return err
		}
	}
}

// until reads to the end of a comment or CDATA and gives keep what is before.
func (m *markup) until(stop string, keep func(c byte)) error {
	var last [3]byte
	for n := 0; ; n++ {
		if n >= len(last) {
			keep(last[0])
		}
		c, err := m.r.ReadByte()
		if err != nil {
			return err
		}
		last[0], last[1], last[2] = last[1], last[2], c
		if n >= len(last)-1 && string(last[:]) == stop {
			return nil
		}
		if len(m.text) > maxText {
			return errText
		}
	}
}

// at says whether the element is at a path, of which the first, the root, may
// have any name and is written *.
func (m *markup) at(path string) bool {
	_, rest, ok := bytes.Cut(m.path[min(1, len(m.path)):], []byte{'/'})
	return ok && string(rest) == path[len("*/"):]
}

// attribute returns the value of an attribute of the tag, nil if it has none. It
// is valid until the next call. An attribute that stands there twice is an error,
// as XML has it (XML 1.0, section 3.1).
func (m *markup) attribute(name string) ([]byte, error) {
	rest, found := m.tag, false
	m.value = m.value[:0]
	for {
		i := bytes.IndexByte(rest, '=')
		if i < 0 && !found {
			return nil, nil
		}
		if i < 0 {
			return resolve(m.value, 0)
		}
		key := bytes.TrimRight(rest[:i], " \t\r\n")
		key = key[bytes.LastIndexAny(key, " \t\r\n")+1:]
		rest = bytes.TrimLeft(rest[i+1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return nil, errXML
		}
		value, after, ok := bytes.Cut(rest[1:], rest[:1])
		if !ok || found && string(key) == name {
			return nil, errXML
		}
		if string(key) == name {
			m.value, found = append(m.value, value...), true
		}
		rest = after
	}
}
