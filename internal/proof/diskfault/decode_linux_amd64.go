package diskfault

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// decode sets call, opened and appends of u from the number and arguments of the system
// call.
func (t *tracee) decode(u *pending) error {
	fd := int(int32(u.args[0]))
	h, isOpen := t.open[fd]
	switch u.nr {
	case syscall.SYS_WRITE:
		if fd == 1 {
			data, err := t.bytes(u.args[1], u.args[2])
			u.call = &Call{Kind: Say, Data: data}
			return err
		}
		return t.write(u, h, isOpen, h.at)
	case syscall.SYS_PWRITE64:
		return t.write(u, h, isOpen, int64(u.args[3]))
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		if isOpen {
			u.call = &Call{Kind: Sync, Name: h.name, File: h.file}
		}
	case syscall.SYS_FTRUNCATE:
		if isOpen {
			u.call = &Call{Kind: Truncate, Name: h.name, File: h.file, Offset: int64(u.args[1])}
		}
	case syscall.SYS_LSEEK, syscall.SYS_WRITEV, syscall.SYS_PWRITEV, syscall.SYS_FALLOCATE, sysCopyFileRange, syscall.SYS_SENDFILE, syscall.SYS_DUP, syscall.SYS_DUP3:
		if isOpen && t.isFile(h) && u.nr != syscall.SYS_LSEEK {
			return fmt.Errorf("system call %d on %s cannot be recorded", u.nr, h.name)
		}
	default:
		return t.decodeName(u)
	}
	return nil
}

const (
	sysCopyFileRange = 326
	sysRenameat2     = 316
)

// isFile reports whether a handle is of a file below the directory.
func (t *tracee) isFile(h handle) bool { return h.name != "" }

func (t *tracee) write(u *pending, h handle, isOpen bool, at int64) error {
	if !isOpen {
		return nil
	}
	if h.appends {
		info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(u.args[0])))
		if err != nil {
			return fmt.Errorf("size of %s, to append to it: %w", h.name, err)
		}
		at = info.Size()
	}
	data, err := t.bytes(u.args[1], u.args[2])
	u.call = &Call{Kind: Write, Name: h.name, File: h.file, Offset: at, Data: data}
	return err
}

// decodeName is decode for system calls that name a file.
func (t *tracee) decodeName(u *pending) error {
	var at [2]int // positions of the names among the arguments, each after its directory
	switch u.nr {
	case syscall.SYS_OPENAT, syscall.SYS_MKDIRAT, syscall.SYS_UNLINKAT:
		at = [2]int{1, -1}
	case syscall.SYS_RENAMEAT, sysRenameat2, syscall.SYS_LINKAT:
		at = [2]int{1, 3}
	default:
		return nil
	}
	name, inside, err := t.name(u.args[at[0]-1], u.args[at[0]])
	if err != nil || !inside {
		return err
	}
	number := t.names[name]
	switch u.nr {
	case syscall.SYS_OPENAT:
		return t.decodeOpen(u, name)
	case syscall.SYS_MKDIRAT:
		u.call = &Call{Kind: Mkdir, Name: name}
	case syscall.SYS_UNLINKAT:
		u.call = &Call{Kind: Unlink, Name: name, File: number}
	case syscall.SYS_LINKAT:
		u.call = &Call{Kind: Link, Name: name, File: number}
	default:
		u.call = &Call{Kind: Rename, Name: name, File: number}
	}
	u.call.Dir = t.names[filepath.Dir(name)]
	if at[1] > 0 {
		to, inside, err := t.name(u.args[at[1]-1], u.args[at[1]])
		if err != nil {
			return err
		}
		if !inside || filepath.Dir(to) != filepath.Dir(name) {
			return fmt.Errorf("%v from %s to another directory cannot be recorded", u.call.Kind, name)
		}
		u.call.To = to
	}
	return nil
}

// decodeOpen is decode for calls that open a file.
func (t *tracee) decodeOpen(u *pending, name string) error {
	flags := u.args[2]
	_, there := t.names[name]
	switch {
	case !there && flags&syscall.O_CREAT == 0:
		return nil
	case !there:
		u.call = &Call{Kind: Create, Name: name, Dir: t.names[filepath.Dir(name)]}
	case flags&syscall.O_TRUNC != 0:
		return fmt.Errorf("open of %s with O_TRUNC cannot be recorded", name)
	}
	u.opened, u.appends = name, flags&syscall.O_APPEND != 0
	return nil
}

// name returns a file name in the program's memory, relative to the directory. Inside
// reports whether it lies below the directory.
func (t *tracee) name(dir, addr uint64) (name string, inside bool, err error) {
	if name, err = t.text(addr); err != nil {
		return "", false, err
	}
	if !filepath.IsAbs(name) {
		h, isOpen := t.open[int(int32(dir))]
		if !isOpen {
			return "", false, nil
		}
		return filepath.Join(h.name, name), true, nil
	}
	name, err = filepath.Rel(t.dir, name)
	return name, err == nil && name != ".." && !strings.HasPrefix(name, "../"), nil
}

// bytes reads the program's memory.
func (t *tracee) bytes(addr, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := t.mem.ReadAt(b, int64(addr)); err != nil {
		return nil, fmt.Errorf("read the program's memory: %w", err)
	}
	return b, nil
}

// text reads a zero-terminated string from the program's memory.
func (t *tracee) text(addr uint64) (string, error) {
	var b [syscall.PathMax]byte
	n, err := t.mem.ReadAt(b[:], int64(addr))
	if s, _, ok := strings.Cut(string(b[:n]), "\x00"); ok {
		return s, nil
	}
	if err == nil || err == io.EOF {
		err = errors.New("a name is not terminated")
	}
	return "", fmt.Errorf("read the program's memory: %w", err)
}
