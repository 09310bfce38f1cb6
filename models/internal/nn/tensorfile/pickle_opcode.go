package tensorfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

func (u *unpickler) integer(op byte) error {
	size := map[byte]int{'K': 1, 'M': 2, 'J': 4}[op]
	if op == 0x8a { // LONG1: a length, and as many bytes in two's complement
		n, err := u.byte()
		if err != nil {
			return err
		}
		if n > 8 {
			return errors.New("a number has more than 8 bytes")
		}
		b, err := u.take(int(n))
		if err != nil {
			return err
		}
		var v uint64
		for i, x := range b {
			v |= uint64(x) << (8 * i)
		}
		if n > 0 && n < 8 && b[n-1] >= 0x80 {
			v |= math.MaxUint64 << (8 * n)
		}
		u.push(int(int64(v)))
		return u.spend(8)
	}
	v, err := u.number(size)
	if op == 'J' {
		v = int(int32(uint32(v)))
	}
	u.push(v)
	if err == nil {
		err = u.spend(8)
	}
	return err
}

func (u *unpickler) float() error {
	b, err := u.take(8)
	if err != nil {
		return err
	}
	u.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	return u.spend(8)
}

// list pushes a list, or removes the value, or all above the mark, that the list below
// would get.
func (u *unpickler) list(op byte) error {
	var err error
	switch op {
	case ']':
		u.push(list{})
		return nil
	case 'a':
		_, err = u.pop()
	case 'e':
		_, err = u.popMark()
	}
	if err != nil {
		return err
	}
	top, err := u.pop()
	if err != nil {
		return err
	}
	if _, ok := top.(list); !ok {
		return fmt.Errorf("%s gets values, want a list", kind(top))
	}
	u.push(top)
	return nil
}

func (u *unpickler) text(op byte) error {
	size := 4
	if op == 0x8c {
		size = 1
	}
	n, err := u.number(size)
	if err != nil {
		return err
	}
	b, err := u.take(n)
	u.push(string(b))
	if err == nil {
		err = u.spend(16 + n)
	}
	return err
}

// name pushes a global. Its module and its name are two lines of the pickle, or
// two strings on the stack.
func (u *unpickler) name(op byte) error {
	if op == 0x93 {
		name, err1 := u.pop()
		module, err2 := u.pop()
		n, ok1 := name.(string)
		m, ok2 := module.(string)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !ok1 || !ok2 {
			return errors.New("the name of a global is not a string")
		}
		u.push(global(m + " " + n))
		return u.spend(16 + len(m) + len(n))
	}
	var parts [2]string
	for i := range parts {
		start := u.at
		for {
			c, err := u.byte()
			if err != nil {
				return err
			}
			if c == '\n' {
				break
			}
		}
		parts[i] = string(u.b[start : u.at-1])
	}
	u.push(global(parts[0] + " " + parts[1]))
	return u.spend(16 + 2*(len(parts[0])+len(parts[1])))
}

func (u *unpickler) tuple(op byte) error {
	if op == 't' {
		v, err := u.popMark()
		u.push(tuple(v))
		if err == nil {
			err = u.spend(24)
		}
		return err
	}
	v := make(tuple, map[byte]int{')': 0, 0x85: 1, 0x86: 2, 0x87: 3}[op])
	for i := len(v) - 1; i >= 0; i-- {
		var err error
		if v[i], err = u.pop(); err != nil {
			return err
		}
	}
	u.push(v)
	return u.spend(24 + 16*len(v))
}

// remember copies the top of the stack into the memo, or an entry of the memo to
// the stack.
func (u *unpickler) remember(op byte) error {
	i := len(u.memo)
	var err error
	switch op {
	case 'q', 'h':
		i, err = u.number(1)
	case 'r', 'j':
		i, err = u.number(4)
	}
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' {
		if i >= len(u.memo) || u.memo[i] == nil {
			return fmt.Errorf("memo %d is empty", i)
		}
		u.push(u.memo[i])
		return nil
	}
	v, err := u.pop()
	if err != nil {
		return err
	}
	u.push(v)
	for len(u.memo) <= i { // runs once: pickles number their entries from 0
		u.memo = append(u.memo, nil)
		if err := u.spend(sizeOfValue); err != nil {
			return err
		}
	}
	u.memo[i] = v
	return nil
}
