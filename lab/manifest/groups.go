package manifest

import "fmt"

// Cluster is the source and the system of a row, or where neither is known the
// speaker, and its class: recordings of one cluster resemble each other. A row
// of which none is known is one of its own.
func (r *Row) Cluster() string {
	switch {
	case Known(r.Source) || Known(r.System):
		return r.Source + "\x00" + r.System + "\x00" + r.Label
	case r.Person() != "":
		return "\x00" + r.Person() + "\x00" + r.Label
	}
	return "\x00" + r.Path
}

// Person is the speaker of a row, "" if unknown.
func (r *Row) Person() string {
	if !Known(r.Speaker) {
		return ""
	}
	return r.Speaker
}

// Origin is the source of a row, "" if unknown.
func (r *Row) Origin() string {
	if !Known(r.Source) {
		return ""
	}
	return r.Source
}

// ageBands are the first years of the bands of Groups, those of the published
// figures of the service's own model.
var ageBands = []int{18, 30, 45, 60}

// Groups says which groups of people the row counts to, by what is known.
func (r *Row) Groups() map[string]string {
	g := map[string]string{}
	m := r.Metadata
	if m.Gender != 0 {
		g["sex"] = m.Gender.String()
	}
	if m.Race != 0 {
		g["race"] = m.Race.String()
	}
	if m.Ethnicity != 0 {
		g["ethnicity"] = m.Ethnicity.String()
	}
	if r.Language != "" {
		g["language"] = r.Language
	}
	if m.Age > 0 {
		band := "below 18"
		for i, from := range ageBands {
			switch {
			case m.Age < from:
			case i+1 < len(ageBands):
				band = fmt.Sprintf("%d–%d", from, ageBands[i+1]-1)
			default:
				band = fmt.Sprintf("%d and over", from)
			}
		}
		g["age"] = band
	}
	return g
}
