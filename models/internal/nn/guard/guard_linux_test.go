package guard

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"
)

func TestFloats(t *testing.T) {
	for _, n := range []int{1, 7, 1024, 1025} {
		s := Floats(t, n)
		if len(s) != n {
			t.Fatalf("%d numbers asked for, %d given", n, len(s))
		}
		s[n-1] = 1
		if !faults(unsafe.Add(unsafe.Pointer(&s[n-1]), 4)) {
			t.Errorf("what is behind %d numbers can be read", n)
		}
	}
}

// faults reports whether reading the byte at p faults.
func faults(p unsafe.Pointer) (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() != nil }()
	runtime.KeepAlive(*(*byte)(p))
	return false
}
