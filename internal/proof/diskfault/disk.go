package diskfault

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// rootDir is the file number of the recorded directory.
const rootDir = 0

// Disk models the possible contents of a disk in the course of a recording. It is not safe
// for concurrent use.
type Disk struct {
	// Retries makes an fsync write what an earlier fsync failed to write. Default:
	// false, an fsync takes it for written.
	Retries bool

	files map[int]*file
	marks map[*Call]mark // by sync in progress
}

// file is a file or a directory.
type file struct {
	dir     bool
	content []byte         // durable content of a file
	changes []*Call        // changes of content that are not durable, in order
	entries map[string]int // durable names in a directory, with file numbers
	moves   []*Call        // changes of names that are not durable, in order
}

// mark lists the changes that a sync in progress makes durable.
type mark struct{ changes, moves []*Call }

// NewDisk returns a disk with an empty directory.
func NewDisk() *Disk {
	return &Disk{files: map[int]*file{rootDir: newDir()}, marks: map[*Call]mark{}}
}

func newDir() *file { return &file{dir: true, entries: map[string]int{}} }

// Apply applies the next step of a recording. A step that is left out stands for a call that
// was not made.
func (d *Disk) Apply(s Step) {
	c := s.Call
	switch c.Kind {
	case Write, Truncate:
		if f := d.files[c.File]; f != nil && !c.Failed {
			f.changes = append(f.changes, c)
		}
	case Sync:
		if f := d.files[c.File]; f != nil {
			d.sync(f, s)
		}
	case Create, Mkdir, Link, Rename, Unlink:
		dir := d.files[c.Dir]
		if dir == nil || c.Failed {
			return
		}
		switch c.Kind {
		case Create:
			d.files[c.File] = &file{}
		case Mkdir:
			d.files[c.File] = newDir()
		}
		dir.moves = append(dir.moves, c)
	}
}

// sync applies a step of a sync: it makes the changes durable that had ended when the sync
// began.
func (d *Disk) sync(f *file, s Step) {
	if s.Begin {
		d.marks[s.Call] = mark{slices.Clone(f.changes), slices.Clone(f.moves)}
		return
	}
	m := d.marks[s.Call]
	delete(d.marks, s.Call)
	if s.Call.Failed && d.Retries {
		return
	}
	if !s.Call.Failed {
		for _, c := range m.changes {
			if slices.Contains(f.changes, c) { // no concurrent sync has made it durable
				f.content = c.apply(f.content)
			}
		}
		for _, c := range m.moves {
			if slices.Contains(f.moves, c) {
				c.move(f.entries)
			}
		}
		f.moves = slices.DeleteFunc(f.moves, func(c *Call) bool { return slices.Contains(m.moves, c) })
	}
	f.changes = slices.DeleteFunc(f.changes, func(c *Call) bool { return slices.Contains(m.changes, c) })
}

// move applies a change of names to the entries of a directory.
func (c *Call) move(entries map[string]int) {
	switch c.Kind {
	case Create, Mkdir:
		entries[filepath.Base(c.Name)] = c.File
	case Link:
		entries[filepath.Base(c.To)] = c.File
	case Rename:
		delete(entries, filepath.Base(c.Name))
		entries[filepath.Base(c.To)] = c.File
	case Unlink:
		delete(entries, filepath.Base(c.Name))
	}
}

// dependsOn reports whether c cannot survive without b, an earlier change in the same
// directory.
func (c *Call) dependsOn(b *Call) bool {
	return c.File == b.File || c.Name == b.Name || c.To != "" && (c.To == b.Name || c.To == b.To) || c.Name == b.To
}

// apply applies a change to the content of a file.
func (c *Call) apply(content []byte) []byte {
	if c.Kind == Truncate {
		return resize(content, int(c.Offset), nil)
	}
	content = resize(content, max(len(content), int(c.Offset)+len(c.Data)), nil)
	copy(content[c.Offset:], c.Data)
	return content
}

// resize truncates content or extends it, with zeros or, if fill is not nil, with its
// results.
func resize(content []byte, size int, fill func() byte) []byte {
	if size <= len(content) {
		return content[:size]
	}
	old := len(content)
	content = append(content, make([]byte, size-old)...)
	if fill != nil {
		for i := old; i < size; i++ {
			content[i] = fill()
		}
	}
	return content
}

// Fail writes a possible content of the disk after a power failure to an empty directory.
// Rnd determines which of the changes that are not durable survive.
func (d *Disk) Fail(to string, rnd *rand.Rand) error {
	if err := d.restore(to, d.files[rootDir], rnd); err != nil {
		return fmt.Errorf("diskfault: %w", err)
	}
	return nil
}

func (d *Disk) restore(to string, dir *file, rnd *rand.Rand) error {
	entries := maps.Clone(dir.entries)
	share := [...]float64{0, 0.5, 0.5, 1}[rnd.IntN(4)]
	var lost []*Call
	for _, c := range dir.moves {
		if rnd.Float64() >= share || slices.ContainsFunc(lost, c.dependsOn) {
			lost = append(lost, c)
			continue
		}
		c.move(entries)
	}
	names := slices.SortedFunc(maps.Keys(entries), cmp.Compare[string]) // a fixed order, so that equal seeds give equal results
	for _, name := range names {
		f, path := d.files[entries[name]], filepath.Join(to, name)
		var err error
		if f.dir {
			if err = os.Mkdir(path, 0o700); err == nil {
				err = d.restore(path, f, rnd)
			}
		} else {
			err = os.WriteFile(path, f.survives(rnd), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// survives returns a possible content of a file after a power failure.
func (f *file) survives(rnd *rand.Rand) []byte {
	t := tear{
		rnd:   rnd,
		share: [...]float64{0, 0.5, 0.5, 0.9, 1}[rnd.IntN(5)],
		unit:  [...]int{512, 4096, 1 << 30}[rnd.IntN(3)], // sectors, pages, whole writes
	}
	if rnd.IntN(2) == 0 {
		t.fill = func() byte { return byte(rnd.Uint32()) }
	}
	content := slices.Clone(f.content)
	for _, c := range f.changes {
		if c.Kind == Write {
			content = t.write(content, c)
		} else if rnd.Float64() < t.share {
			content = c.apply(content)
		}
	}
	return content
}

// tear determines which parts of writes survive.
type tear struct {
	rnd   *rand.Rand
	share float64     // probability that a unit survives
	unit  int         // bytes that survive or are lost as a whole
	fill  func() byte // content of lost bytes of a file that grew; nil for zeros
}

// write applies the surviving parts of a write.
func (t *tear) write(content []byte, c *Call) []byte {
	for at := 0; at < len(c.Data); {
		from := int(c.Offset) + at
		to := min((from/t.unit+1)*t.unit-int(c.Offset), len(c.Data))
		if t.rnd.Float64() < t.share {
			content = resize(content, max(len(content), int(c.Offset)+to), t.fill)
			copy(content[from:], c.Data[at:to])
		}
		at = to
	}
	return content
}
