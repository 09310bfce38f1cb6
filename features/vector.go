package features

import "math"

// A Schema names the features of a vector, in order, with their units. It is
// immutable.
type Schema struct {
	name  string
	names []string
	units []string
	index map[string]int
}

// Name identifies the schema, such as "voice/1".
func (s *Schema) Name() string { return s.name }

// Len is the number of features.
func (s *Schema) Len() int { return len(s.names) }

// Feature returns the name and the unit of feature i, 0 ≤ i < Len. A feature
// without a unit has "".
func (s *Schema) Feature(i int) (name, unit string) { return s.names[i], s.units[i] }

// Index returns the position of the named feature, -1 if the schema has none of
// that name.
func (s *Schema) Index(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// A Vector holds the features of one recording in the order of its schema, NaN
// where a feature is undefined.
type Vector struct {
	Schema *Schema
	Values []float64
}

// Get returns the named feature. It panics if the schema has none of that name.
func (v Vector) Get(name string) float64 {
	i := v.Schema.Index(name)
	if i < 0 {
		panic("features: no feature " + name + " in schema " + v.Schema.name)
	}
	return v.Values[i]
}

// Map returns the features that are defined, by name.
func (v Vector) Map() map[string]float64 {
	m := make(map[string]float64, len(v.Values))
	for i, x := range v.Values {
		if !math.IsNaN(x) {
			m[v.Schema.names[i]] = x
		}
	}
	return m
}

// Vector is the inverse of [Vector.Map]: features that are not in the map are NaN.
// It ignores names that the schema does not have.
func (s *Schema) Vector(features map[string]float64) Vector {
	v := Vector{Schema: s, Values: make([]float64, s.Len())}
	for i := range v.Values {
		v.Values[i] = math.NaN()
	}
	for name, x := range features {
		if i := s.Index(name); i >= 0 {
			v.Values[i] = x
		}
	}
	return v
}
