package tensorfile

import (
	"errors"
	"fmt"
)

// fill adds one key with its value, or all above the mark, to the dictionary below
// them.
func (u *unpickler) fill(op byte) error {
	var items []any
	var err error
	if op == 'u' {
		if items, err = u.popMark(); err != nil {
			return err
		}
	} else {
		items = make([]any, 2)
		for i := 1; i >= 0; i-- {
			if items[i], err = u.pop(); err != nil {
				return err
			}
		}
	}
	if len(items)%2 != 0 {
		return errors.New("a key has no value")
	}
	top, err := u.pop()
	if err != nil {
		return err
	}
	d, ok := top.(*dict)
	if !ok {
		return fmt.Errorf("%s is filled, want a dictionary", kind(top))
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	u.push(d)
	return u.spend(len(items) * sizeOfValue)
}

// persistent replaces the description of a storage by the storage. It is
// ("storage", class, key, device, number of elements).
func (u *unpickler) persistent() error {
	v, err := u.pop()
	if err != nil {
		return err
	}
	t, ok := v.(tuple)
	if !ok || len(t) != 5 || t[0] != "storage" {
		return fmt.Errorf("%s is a persistent ID, want one of a storage", kind(v))
	}
	class, ok1 := t[1].(global)
	key, ok2 := t[2].(string)
	count, ok3 := t[4].(int)
	if !ok1 || !ok2 || !ok3 || count < 0 {
		return errors.New("the description of a storage is malformed")
	}
	d, ok := dtypes[class]
	if !ok {
		return fmt.Errorf("storage of class %.60q, want float32, float16 or bfloat16", string(class))
	}
	u.push(storage{d, key, count})
	return u.spend(48)
}

// reduce makes the result of a callable, or an instance of a class, for its arguments.
func (u *unpickler) reduce() error {
	args, err1 := u.pop()
	callable, err2 := u.pop()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	t, ok := args.(tuple)
	if !ok {
		return fmt.Errorf("%s is in the place of arguments", kind(args))
	}
	switch callable {
	case orderedDict:
		if len(t) > 0 {
			return errors.New("an ordered dictionary has arguments, want none")
		}
		u.push(&dict{})
		return u.spend(48)
	case rebuildTensor:
		r, err := newRecord(t)
		if err != nil {
			return err
		}
		u.push(r)
		return u.spend(112 + 8*(len(r.dims)+len(r.strides)))
	}
	if g, ok := callable.(global); ok {
		return fmt.Errorf("the pickle calls %.60q, and nothing is called here", string(g))
	}
	return fmt.Errorf("the pickle calls %s", kind(callable))
}

// newRecord reads the arguments of _rebuild_tensor_v2: storage, offset, sizes and
// strides. It ignores the others: whether gradients are needed, hooks, metadata.
func newRecord(t tuple) (*record, error) {
	if len(t) != 6 && len(t) != 7 {
		return nil, fmt.Errorf("a tensor is described by %d values, want 6 or 7", len(t))
	}
	r := &record{}
	var ok bool
	if r.storage, ok = t[0].(storage); !ok {
		return nil, fmt.Errorf("a tensor lies in %s, want a storage", kind(t[0]))
	}
	if r.offset, ok = t[1].(int); !ok || r.offset < 0 {
		return nil, errors.New("the offset of a tensor is not a number from 0")
	}
	var err error
	if r.dims, err = whole(t[2]); err != nil {
		return nil, err
	}
	if r.strides, err = whole(t[3]); err != nil {
		return nil, err
	}
	if len(r.dims) != len(r.strides) {
		return nil, fmt.Errorf("a tensor has %d sizes and %d strides", len(r.dims), len(r.strides))
	}
	return r, nil
}

// maxDims is the greatest number of dimensions of a tensor. Chosen: more than twice
// that of any tensor of a published model.
const maxDims = 8

// whole returns the numbers of a tuple; none may be negative.
func whole(v any) ([]int, error) {
	t, ok := v.(tuple)
	if !ok {
		return nil, fmt.Errorf("%s is in the place of the sizes of a tensor", kind(v))
	}
	if len(t) > maxDims {
		return nil, fmt.Errorf("a tensor has %d sizes, want at most %d", len(t), maxDims)
	}
	n := make([]int, len(t))
	for i, x := range t {
		if n[i], ok = x.(int); !ok || n[i] < 0 {
			return nil, errors.New("a size of a tensor is not a number from 0")
		}
	}
	return n, nil
}

// build removes the attributes that torch gives to a state dict. They hold nothing
// about its tensors.
func (u *unpickler) build() error {
	if _, err := u.pop(); err != nil {
		return err
	}
	v, err := u.pop()
	if err != nil {
		return err
	}
	if _, ok := v.(*dict); !ok {
		return fmt.Errorf("%s has attributes, want a dictionary", kind(v))
	}
	u.push(v)
	return nil
}

// kind returns the kind of a value for an error.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return "a string"
	case int, float64:
		return "a number"
	case list:
		return "a list"
	case bool:
		return "a truth value"
	case tuple:
		return "a tuple"
	case *dict:
		return "a dictionary"
	case global:
		return fmt.Sprintf("%.60q", string(v))
	case storage:
		return "a storage"
	case *record:
		return "a tensor"
	}
	return "a mark"
}
