package models_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
)

// filled is a text of n bytes or a little less: begin, as many units as fit,
// end.
func filled(n int, begin, unit, end string) string {
	return begin + strings.Repeat(unit, (n-len(begin)-len(end))/len(unit)) + end
}

// widest is a Bayes model of all features of the schema, written in the fewest
// bytes.
func widest(t testing.TB) string {
	f := bayesFile()
	schema := features.VoiceSchema()
	one := models.Spread{Center: 1, Scale: 1}
	identity := func(n int) [][]float64 {
		m := make([][]float64, n)
		for i := range m {
			m[i] = make([]float64, n)
			m[i][i] = 1
		}
		return m
	}
	f.Features = nil
	for i := range schema.Len() {
		name, unit := schema.Feature(i)
		f.Features = append(f.Features, models.BayesFeature{Name: name, Unit: unit, Female: one, Male: one})
	}
	f.Correlation, f.Covariance = identity(schema.Len()), identity(schema.Len()+3)
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestModelFilesCostInProportion loads the shipped models, and files of a
// megabyte that hold as many values as fit.
func TestModelFilesCostInProportion(t *testing.T) {
	const n = cost.Size
	linear, bayes := encode(t, smallKernel()), widest(t)
	shipped, err := os.ReadFile("shipped/files/deepfake.json")
	if err != nil {
		t.Fatal(err)
	}
	// in puts a value in the place of a list of the file.
	in := func(file, name, value string) string {
		i := strings.Index(file, `"`+name+`":`)
		if i < 0 {
			t.Fatalf("the file has no %s", name)
		}
		i += len(name) + 3
		return filled(n, file[:i]+"[", value, value[:len(value)-1]+"]"+file[i+strings.IndexByte(file[i:], ']')+1:])
	}
	kernel := smallKernel()
	most := kernel.Kernel
	most.Coefficients = make([]float64, 8192)
	most.Vectors = make([]byte, 2*len(most.Coefficients))
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"shipped":               {string(shipped), true},
		"many coefficients":     {encode(t, kernel), true},
		"too many coefficients": {in(linear, "coefficients", "0,"), false},
		"long vectors": {strings.Replace(linear, base64.StdEncoding.EncodeToString(smallKernel().Kernel.Vectors),
			strings.Repeat("AAAA", n/4-2000), 1), false},
		"empty features":        {in(linear, "features", "{},"), false},
		"numbers for features":  {in(linear, "features", "0,"), false},
		"lists for features":    {in(linear, "features", "[],"), false},
		"features":              {in(linear, "features", `{"name":"f0.sd_st","unit":"st","center":0,"scale":1,"weight":0,"weight_sd":0},`), false},
		"metrics":               {in(linear, "metrics", `{"name":"","value":0,"low":0,"high":0,"interval":"","data":"","split":"","n":0},`), false},
		"data":                  {in(linear, "trained_on", `{"data":"a","rows":0,"licence":"a"},`), true},
		"all features":          {bayes, true},
		"all features, spaces":  {bayes + strings.Repeat(" ", n-len(bayes)), true},
		"thresholds":            {in(bayes, "thresholds", "1,"), false},
		"cuts":                  {in(bayes, "cuts", `{"score":0,"probability":0},`), false},
		"rows of a matrix":      {in(bayes, "correlation", "[],"), false},
		"numbers of a matrix":   {in(bayes, "covariance", "0,"), false},
		"names":                 {filled(n, `{"format":"voicescreen-model/1",`, `"":0,`, `"a":0}`), false},
		"formats":               {filled(n, `{`, `"format":0,`, `"a":0}`), false},
		"a long format":         {filled(n, `{"format":"`, `\u0001`, `"}`), false},
		"a long description":    {filled(n, linear[:strings.Index(linear, "a test")], `a`, linear[strings.Index(linear, "a test"):]), false},
		"depth":                 {filled(n, `{"format":"voicescreen-model/1","link":`, `[`, ``), false},
		"depth that is allowed": {`{"format":"voicescreen-model/1","link":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + filled(n-20000, `,"x":[`, `0,`, `0]}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.text) > n {
				t.Skip("too large for the race detector")
			}
			cost.Check(t, len(c.text), func() {
				_, err := models.Load(bytes.NewReader([]byte(c.text)))
				if (err == nil) != c.ok || err != nil && !errors.Is(err, models.ErrModel) {
					t.Errorf("got error %v, loaded is to be %v", err, c.ok)
				}
				if err != nil {
					_ = fmt.Sprint(err)
				}
			})
		})
	}
}
