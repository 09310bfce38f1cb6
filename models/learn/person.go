package learn

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/voicescreen/voicescreen/features"
)

// person is an account and a user. Users of two accounts are two people.
type person [2]string

func (p person) String() string { return p[0] + "\x00" + p[1] }

// persons returns of whom each of n recordings is, by the name of the first of that
// person's recordings. Recordings whose measures are all equal are copies of one, as a
// service is probed with, and of one person whatever the names.
func persons(n int, at func(i int) (person, *features.Recording)) []person {
	named, heard := map[person]int{}, map[[sha256.Size]byte]int{}
	before := make([]int, n) // an earlier recording of the same person, or itself
	first := func(i int) int {
		for before[i] != i {
			before[i] = before[before[i]]
			i = before[i]
		}
		return i
	}
	names := make([]person, n)
	var bits []byte
	for i := range n {
		who, r := at(i)
		names[i], before[i] = who, i
		bits = bits[:0]
		for _, v := range r.Features.Values {
			bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(v))
		}
		measures := sha256.Sum256(bits)
		if j, ok := named[who]; ok {
			before[i] = first(j)
		}
		if j, ok := heard[measures]; ok {
			a, b := first(i), first(j)
			before[max(a, b)] = min(a, b)
		}
		named[who], heard[measures] = first(i), first(i)
	}
	out := make([]person, n)
	for i := range out {
		out[i] = names[first(i)]
	}
	return out
}
