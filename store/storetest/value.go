package storetest

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// full returns a session in which every field is set, each to a different value where
// its type allows. It finds the fields by reflection, so that new ones are covered.
func full() *store.Session {
	s := &store.Session{}
	n := 0
	fill(reflect.ValueOf(s).Elem(), &n)
	s.Status = screen.StatusSuccess
	return s
}

// fill sets v and everything that it contains. It counts the values set in n.
func fill(v reflect.Value, n *int) {
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		zone := time.FixedZone("elsewhere", 3600)
		v.Set(reflect.ValueOf(time.Date(2026, 1, 1, 0, 0, *n, 123456000+1000**n, zone)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 5))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 3 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, n)
			fill(value, n)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d é\x01\u0301", *n))
	case reflect.Int:
		v.SetInt(math.MaxInt32 - int64(*n))
	case reflect.Uint8:
		v.SetUint(1) // the first of its kind
	case reflect.Uint64:
		v.SetUint(math.MaxInt64 - uint64(*n))
	case reflect.Float64:
		v.SetFloat([]float64{math.Copysign(0, -1), math.MaxFloat64, 0.1 * float64(*n)}[*n%3]) // a map of three gets one of each
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("storetest: no value for a field of type " + v.Type().String())
	}
}

// overwriteSession overwrites s and everything that it refers to.
func overwriteSession(s *store.Session) { overwrite(reflect.ValueOf(s).Elem()) }

func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	case reflect.Pointer:
		overwrite(v.Elem())
	case reflect.Slice:
		for whole, i := v.Slice(0, v.Cap()), 0; i < v.Cap(); i++ { // also the unused capacity, which an append would write to
			overwrite(whole.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
		}
	default:
		v.SetZero()
	}
}

// headOf returns the session that a change receives: s without scores and features.
func headOf(s *store.Session) *store.Session {
	s = s.Clone()
	s.Scores, s.Features = nil, nil
	return s
}

// wantSame fails the test unless got equals the normalized form of want.
func wantSame(t rapid.TB, call string, got, want *store.Session) {
	t.Helper()
	if path := difference(reflect.ValueOf(got), reflect.ValueOf(want.Clone()), "session"); path != "" {
		t.Errorf("%s: got another %s than was stored", call, path)
	}
}

// difference returns the path of the first difference, "" if there is none. NaN equals
// NaN.
func difference(a, b reflect.Value, path string) string {
	if a.Type() == reflect.TypeFor[time.Time]() {
		if a.Interface() != b.Interface() { // not Equal: the form counts too
			return path
		}
		return ""
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if d := difference(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); d != "" {
				return d
			}
		}
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return path
			}
			return ""
		}
		return difference(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return path
		}
		for i := range a.Len() {
			if d := difference(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); d != "" {
				return d
			}
		}
	case reflect.Map:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return path
		}
		for _, k := range a.MapKeys() {
			if !b.MapIndex(k).IsValid() {
				return path
			}
			if d := difference(a.MapIndex(k), b.MapIndex(k), fmt.Sprintf("%s[%q]", path, k)); d != "" {
				return d
			}
		}
	case reflect.Float64:
		if math.Float64bits(a.Float()) != math.Float64bits(b.Float()) && !(math.IsNaN(a.Float()) && math.IsNaN(b.Float())) {
			return path
		}
	default:
		if !a.Equal(b) {
			return path
		}
	}
	return ""
}
