package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// modmaTable is the table of the subjects without its extension.
const modmaTable = "subjects_information_audio_lanzhou_2015"

// readMODMA reads the audio part of MODMA (Cai et al. 2022):
//
//	audio_lanzhou_2015/02010001/01.wav … 29.wav
//	audio_lanzhou_2015/subjects_information_audio_lanzhou_2015.xlsx, or exported as .csv
//
// A session is all that one subject said. For depression the positive class is
// the diagnosis, and the total PHQ-9; for anxiety GAD-7 of 10 or more.
func readMODMA(root fs.FS, task screen.Category) (*Corpus, error) {
	c := &Corpus{
		Name: "MODMA", Criterion: "diagnosed with MDD", Language: "zh",
		Protocol: "no official split: 5 or 10 folds by subject, or one subject out at a time: accuracy and F1",
	}
	if task == screen.Anxiety {
		c.Criterion = "GAD-7 of 10 or more"
	}
	at := "."
	if _, err := fs.Stat(root, "audio_lanzhou_2015"); err == nil {
		at = "audio_lanzhou_2015"
	}
	var t *table
	var err error
	if name := path.Join(at, modmaTable+".csv"); exists(root, name) {
		t, err = readTable(root, name, ',', maxSubjects)
	} else {
		t, err = readWorkbook(root, path.Join(at, modmaTable+".xlsx"))
	}
	if err != nil {
		return nil, err
	}
	id, err := t.need("subject id")
	if err != nil {
		return nil, err
	}
	kind, err := t.need("type")
	if err != nil {
		return nil, err
	}
	err = t.each(func(row []string) {
		n, ok := whole(cell(row, id))
		if !ok {
			return
		}
		s := Session{ID: fmt.Sprintf("%08d", n), Speaker: fmt.Sprintf("%08d", n)}
		c.modmaSession(root, path.Join(at, s.ID), task, t, row, strings.ToUpper(cell(row, kind)), s)
	})
	return c, err
}

func (c *Corpus) modmaSession(root fs.FS, dir string, task screen.Category, t *table, row []string, kind string, s Session) {
	column, most := t.column("phq-9", "phq9"), 27
	if task == screen.Anxiety {
		column, most = t.column("gad-7", "gad7"), 21
	}
	s.Total, s.HasTotal = whole(cell(row, column))
	s.HasTotal = s.HasTotal && s.Total >= 0 && s.Total <= most
	switch {
	case task == screen.Anxiety && !s.HasTotal:
		c.skip(s.ID, "the table gives no GAD-7")
		return
	case task == screen.Anxiety:
		s.Positive = s.Total >= screen.PositiveTotal
	case kind != "MDD" && kind != "HC":
		c.skip(s.ID, "the table says neither MDD nor HC")
		return
	default:
		s.Positive = kind == "MDD"
	}
	if age, ok := whole(cell(row, t.column("age"))); ok && age > 0 {
		s.Metadata.Age = age
	}
	switch strings.ToLower(cell(row, t.column("gender", "sex"))) {
	case "m", "male":
		s.Metadata.Gender = screen.Male
	case "f", "female":
		s.Metadata.Gender = screen.Female
	}
	names, err := fs.Glob(root, dir+"/*.wav")
	if err != nil || len(names) == 0 {
		c.skip(s.ID, "%s holds no recording", dir)
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if !hidden(name) {
			s.Files = append(s.Files, File{Path: name})
		}
	}
	c.Sessions = append(c.Sessions, s)
}
