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

// rootDir is the number of the directory that is recorded.
const rootDir = 0

// Disk is what a disk may hold in the course of a recording. It is not safe for
// concurrent use.
type Disk struct {
	// Retries says that an fsync writes what a former one could not. Default:
	// no, it is as if that had been written.
	Retries bool

	files map[int]*file
	marks map[*Call]mark // of syncs under way
}

// file is a file or a directory.
type file struct {
	dir     bool
	content []byte         // that is sure
	changes []*Call        // of the content, that are not, in their order
	entries map[string]int // that are sure, of a directory
	moves   []*Call        // of names, that are not, in their order
}

// mark is what a sync that is under way makes sure.
type mark struct{ changes, moves []*Call }

// NewDisk returns a disk with an empty directory.
func NewDisk() *Disk {
	return &Disk{files: map[int]*file{rootDir: newDir()}, marks: map[*Call]mark{}}
}

func newDir() *file { return &file{dir: true, entries: map[string]int{}} }

// Apply goes one step on. Steps that are left out are calls that were not made.
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

// sync makes sure what had ended when it began.
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
			if slices.Contains(f.changes, c) { // no other sync did it meanwhile
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

// move changes the names of a directory.
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

// follows says whether c cannot be there without b, which came before.
func (c *Call) follows(b *Call) bool {
	return c.File == b.File || c.Name == b.Name || c.To != "" && (c.To == b.Name || c.To == b.To) || c.Name == b.To
}

// apply makes a change of content.
func (c *Call) apply(content []byte) []byte {
	if c.Kind == Truncate {
		return resize(content, int(c.Offset), nil)
	}
	content = resize(content, max(len(content), int(c.Offset)+len(c.Data)), nil)
	copy(content[c.Offset:], c.Data)
	return content
}

// resize cuts content or adds zeros, or what fill gives.
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

// Fail writes what the disk may hold, if the power fails now, to an empty
// directory. Rnd decides what survives of what is not sure.
func (d *Disk) Fail(to string, rnd *rand.Rand) error {
	if err := d.restore(to, d.files[rootDir], rnd); err != nil {
		return fmt.Errorf("diskfault: %w", err)
	}
	return nil
}

func (d *Disk) restore(to string, dir *file, rnd *rand.Rand) error {
	entries := maps.Clone(dir.entries)
	luck := [...]float64{0, 0.5, 0.5, 1}[rnd.IntN(4)]
	var lost []*Call
	for _, c := range dir.moves {
		if rnd.Float64() >= luck || slices.ContainsFunc(lost, c.follows) {
			lost = append(lost, c)
			continue
		}
		c.move(entries)
	}
	names := slices.SortedFunc(maps.Keys(entries), cmp.Compare[string]) // so that rnd means the same each time
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

// survives returns what the disk may hold of a file.
func (f *file) survives(rnd *rand.Rand) []byte {
	t := tear{
		rnd:  rnd,
		luck: [...]float64{0, 0.5, 0.5, 0.9, 1}[rnd.IntN(5)],
		unit: [...]int{512, 4096, 1 << 30}[rnd.IntN(3)], // sectors, pages, whole writes
	}
	if rnd.IntN(2) == 0 {
		t.fill = func() byte { return byte(rnd.Uint32()) }
	}
	content := slices.Clone(f.content)
	for _, c := range f.changes {
		if c.Kind == Write {
			content = t.write(content, c)
		} else if rnd.Float64() < t.luck {
			content = c.apply(content)
		}
	}
	return content
}

// tear is how writes survive.
type tear struct {
	rnd  *rand.Rand
	luck float64     // the share that survives
	unit int         // what survives or not as a whole, in bytes
	fill func() byte // of what does not where a file grew; nil for zeros
}

// write makes those parts of a write that survive.
func (t *tear) write(content []byte, c *Call) []byte {
	for at := 0; at < len(c.Data); {
		from := int(c.Offset) + at
		to := min((from/t.unit+1)*t.unit-int(c.Offset), len(c.Data))
		if t.rnd.Float64() < t.luck {
			content = resize(content, max(len(content), int(c.Offset)+to), t.fill)
			copy(content[from:], c.Data[at:to])
		}
		at = to
	}
	return content
}
