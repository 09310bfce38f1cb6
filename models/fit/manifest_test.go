package fit

import (
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models"
)

// Every spelling of the classes is read, a byte order mark passed over, and a
// row that is related to no other is a cluster of its own.
func TestManifestLabels(t *testing.T) {
	const table = "\ufeffnote,path,label,source_repo,use\n" +
		"\"a, b\",x.wav,%neg,s1,train\n" +
		",y.wav,%pos,s2,validate\n" +
		",z.wav,1,,\n" +
		",w.wav,0,,\n"
	for _, tt := range []struct {
		task               models.Category
		negative, positive string
	}{
		{models.Deepfake, "bonafide", "spoof"},
		{models.Depression, "false", "true"},
		{models.Depression, "negative", "positive"},
		{models.Anxiety, "0", "1"},
	} {
		rows, err := ReadManifest(strings.NewReader(strings.NewReplacer("%neg", tt.negative, "%pos", tt.positive).Replace(table)), tt.task)
		if err != nil {
			t.Fatalf("%v: %v", tt, err)
		}
		want := []Row{
			{Path: "x.wav", Label: tt.negative, Source: "s1", Use: "train"},
			{Path: "y.wav", Label: tt.positive, Positive: true, Source: "s2", Use: "validate"},
			{Path: "z.wav", Label: "1", Positive: true},
			{Path: "w.wav", Label: "0"},
		}
		if len(rows) != len(want) {
			t.Fatalf("%v: got %d rows, want %d", tt, len(rows), len(want))
		}
		for i := range want {
			if rows[i] != want[i] {
				t.Errorf("%v, row %d: got %+v, want %+v", tt, i, rows[i], want[i])
			}
		}
		if rows[2].cluster() == rows[3].cluster() || rows[0].cluster() == rows[1].cluster() {
			t.Error("rows that have nothing in common are in one cluster")
		}
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add("path,label\na.wav,1\n")
	f.Add("\ufeffnote,path,label,use\n\"a, \"\"b\"\"\",x.wav,false,train\n")
	f.Add("path,label,label\na.wav,1,0\n")
	f.Fuzz(func(t *testing.T, table string) {
		rows, err := ReadManifest(strings.NewReader(table), models.Anxiety)
		if (err == nil) == (len(rows) == 0) {
			t.Fatalf("got %d rows, %v, want one of them", len(rows), err)
		}
		for _, r := range rows {
			if r.Path == "" || r.Label == "" {
				t.Fatalf("got %+v", r)
			}
		}
	})
}
