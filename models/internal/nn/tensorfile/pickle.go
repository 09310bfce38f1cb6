package tensorfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCheckpoint is wrapped by the errors about a checkpoint that is broken or not
// supported. The message names the fault.
var ErrCheckpoint = errors.New("not a readable checkpoint")

// The values of a pickle are string, int, float64, bool, tuple, list, *dict, global,
// storage, *record and nil, which is None.
type (
	tuple  []any
	list   struct{} // its values are of no use and not kept
	global string   // module and name; compared, never imported

	// dict is the keys and values of a dictionary, in the order of insertion.
	dict struct {
		keys   []any
		values []any
	}

	// storage is an array of numbers, of which a tensor is a part.
	storage struct {
		dtype dtype
		key   string // of the file in the archive
		count int    // of numbers
	}

	// record is a tensor as the pickle describes it.
	record struct {
		storage storage
		offset  int // of its first number in the storage
		dims    []int
		strides []int // in numbers
	}
)

// dtypes are the supported classes of storages.
var dtypes = map[global]dtype{
	"torch FloatStorage":    float32s,
	"torch HalfStorage":     float16s,
	"torch BFloat16Storage": bfloat16s,
}

// The callables that a state dict may name. They are not called: reduce makes
// their results.
const (
	rebuildTensor global = "torch._utils _rebuild_tensor_v2"
	orderedDict   global = "collections OrderedDict"
)

// mark is the value that the opcode MARK pushes.
type mark struct{}

// unpickler runs the few opcodes that the pickle of a dictionary of tensors needs
// (PEP 307; CPython's Lib/pickletools.py has every opcode). Any other opcode is an
// error. It imports and calls nothing, and limits the memory of the values.
type unpickler struct {
	b       []byte
	at      int // of the next byte
	stack   []any
	deepest int // greatest length of the stack so far
	memo    []any
	left    int // bytes that further values may take
}

const (
	// The values of a pickle may take memoryPerByte bytes for each byte of the
	// pickle, plus memorySlack. Chosen: 514 tensors as torch writes them take
	// less than four fifths of that, and together with the text of the pickle it
	// is at most 4 bytes for each byte plus 1 MiB.
	memoryPerByte = 2
	memorySlack   = 1 << 20

	// sizeOfValue is the memory in bytes that a value of a growing list takes: a
	// list that grows by a quarter allocates five times its 16 bytes in all.
	sizeOfValue = 5 * 16
)

var errMemory = errors.New("it takes too much memory for its size")

// spend subtracts n bytes from those that are left, and returns an error when
// none are left.
func (u *unpickler) spend(n int) error {
	if u.left -= n; u.left < 0 {
		return errMemory
	}
	return nil
}

// unpickle returns the dictionary in the pickle b. The error wraps ErrCheckpoint
// and names the byte of the fault.
func unpickle(b []byte) (*dict, error) {
	u := &unpickler{b: b, left: memorySlack + memoryPerByte*len(b)}
	v, err := u.run()
	if err != nil {
		return nil, fmt.Errorf("%w: pickle, byte %d: %w", ErrCheckpoint, u.at, err)
	}
	d, ok := v.(*dict)
	if !ok {
		return nil, fmt.Errorf("%w: the pickle holds %s, want a dictionary of tensors", ErrCheckpoint, kind(v))
	}
	return d, nil
}

func (u *unpickler) run() (any, error) {
	for {
		start := u.at
		op, err := u.byte()
		if err != nil {
			return nil, err
		}
		if op == '.' { // STOP
			v, err := u.pop()
			if err == nil && len(u.stack) > 0 {
				err = errors.New("values are left over on the stack")
			}
			return v, err
		}
		depth := len(u.stack)
		if err := u.step(op); err != nil {
			u.at = start
			return nil, err
		}
		if depth = len(u.stack) - max(depth, u.deepest); depth > 0 {
			u.deepest = len(u.stack)
			if err := u.spend(depth * sizeOfValue); err != nil {
				return nil, err
			}
		}
	}
}

// step runs one opcode.
func (u *unpickler) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := u.byte()
		if err == nil && v > 5 {
			err = fmt.Errorf("protocol %d is unknown", v)
		}
		return err
	case 0x95: // FRAME
		_, err := u.take(8)
		return err
	case '(': // MARK
		u.push(mark{})
	case 'N': // NONE
		u.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		u.push(op == 0x88)
	case 'K', 'M', 'J', 0x8a: // BININT1, BININT2, BININT, LONG1
		return u.integer(op)
	case 'G': // BINFLOAT
		return u.float()
	case ']', 'a', 'e': // EMPTY_LIST, APPEND, APPENDS
		return u.list(op)
	case 'X', 0x8c: // BINUNICODE, SHORT_BINUNICODE
		return u.text(op)
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		return u.name(op)
	case ')', 0x85, 0x86, 0x87, 't': // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
		return u.tuple(op)
	case '}': // EMPTY_DICT
		u.push(&dict{})
		return u.spend(48)
	case 's', 'u': // SETITEM, SETITEMS
		return u.fill(op)
	case 'q', 'r', 'h', 'j', 0x94: // BINPUT, LONG_BINPUT, BINGET, LONG_BINGET, MEMOIZE
		return u.remember(op)
	case 'Q': // BINPERSID
		return u.persistent()
	case 'R', 0x81: // REDUCE, NEWOBJ
		return u.reduce()
	case 'b': // BUILD
		return u.build()
	default:
		return fmt.Errorf("opcode 0x%02x is not one of a dictionary of tensors", op)
	}
	return nil
}

func (u *unpickler) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.b)-u.at {
		return nil, errors.New("the pickle ends early")
	}
	b := u.b[u.at : u.at+n]
	u.at += n
	return b, nil
}

func (u *unpickler) byte() (byte, error) {
	b, err := u.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// number reads a little-endian number of n bytes, at most 4.
func (u *unpickler) number(n int) (int, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var full [4]byte
	copy(full[:], b)
	return int(binary.LittleEndian.Uint32(full[:])), nil
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) pop() (any, error) {
	n := len(u.stack) - 1
	if n < 0 {
		return nil, errors.New("the stack is empty")
	}
	v := u.stack[n]
	if _, ok := v.(mark); ok {
		return nil, errors.New("a mark is in the place of a value")
	}
	u.stack = u.stack[:n]
	return v, nil
}

// popMark removes the topmost mark and the values above it, and returns those.
func (u *unpickler) popMark() ([]any, error) {
	for i := len(u.stack) - 1; i >= 0; i-- {
		if _, ok := u.stack[i].(mark); ok {
			v := append([]any(nil), u.stack[i+1:]...)
			u.stack = u.stack[:i]
			return v, u.spend(16 * len(v))
		}
	}
	return nil, errors.New("there is no mark")
}
