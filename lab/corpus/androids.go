package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// androidsName is the name of a recording: number, group (P depressed, C
// control), sex, age, education.
var androidsName = regexp.MustCompile(`^(\d+)_([PC])([MF])(\d+)_(\w)$`)

// Androids folds: the columns of the table of folds that are of each task.
var (
	readingFolds   = [5]int{0, 1, 2, 3, 4}
	interviewFolds = [5]int{7, 8, 9, 10, 11}
)

func readAndroidsReading(root fs.FS, _ screen.Category) (*Corpus, error) {
	c := newAndroids("reading")
	err := c.androids(root, "Reading-Task", readingFolds, func(dir string) (string, bool) {
		name, ok := strings.CutSuffix(dir, ".wav")
		return name, ok
	})
	return c, err
}

func readAndroidsInterview(root fs.FS, _ screen.Category) (*Corpus, error) {
	c := newAndroids("interview")
	err := c.androids(root, "Interview-Task/audio_clip", interviewFolds, func(file string) (string, bool) {
		return path.Base(path.Dir(file)), strings.HasSuffix(file, ".wav")
	})
	return c, err
}

// newAndroids returns the Androids Corpus (Tao, Esposito and Vinciarelli 2023)
// without its sessions. The layout is
//
//	Androids-Corpus/Reading-Task/audio/{HC,PT}/nn_XGmm_t.wav
//	Androids-Corpus/Interview-Task/audio_clip/{HC,PT}/nn_XGmm_t/*.wav, the participant alone
//	Androids-Corpus/fold-lists.csv
//
// where the folder may be Androids-Corpus or hold it, audio may be missing,
// and the folds may be in fold-list.csv.
func newAndroids(task string) *Corpus {
	return &Corpus{
		Name: "Androids, " + task + " task", Criterion: "diagnosed by a psychiatrist", Language: "it",
		Protocol: "the authors' 5 folds, apart by speaker: accuracy and F1 a speaker at a time",
	}
}

// androids collects the recordings below a folder. Session returns the name of
// the session of a file, and whether it is a recording.
func (c *Corpus) androids(root fs.FS, task string, columns [5]int, session func(string) (string, bool)) error {
	at := "."
	if _, err := fs.Stat(root, "Androids-Corpus"); err == nil {
		at = "Androids-Corpus"
	}
	folds, err := androidsFolds(root, at, columns)
	if err != nil {
		return err
	}
	files := map[string][]File{}
	err = fs.WalkDir(root, path.Join(at, task), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorpus, err)
		}
		if d.IsDir() || hidden(name) {
			return nil
		}
		if id, ok := session(name); ok {
			id = path.Base(id)
			files[id] = append(files[id], File{Path: name})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, f := range files {
		m := androidsName.FindStringSubmatch(id)
		if m == nil {
			c.skip(id, "the name is not that of a recording: number, group, sex, age, education")
			continue
		}
		slices.SortFunc(f, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		s := Session{ID: id, Speaker: m[1] + "_" + m[2], Files: f, Positive: m[2] == "P", Fold: folds[id]}
		s.Metadata.Gender = screen.Female
		if m[3] == "M" {
			s.Metadata.Gender = screen.Male
		}
		s.Metadata.Age, _ = strconv.Atoi(m[4])
		if s.Fold == 0 {
			c.skip(id, "it is in no fold")
			continue
		}
		c.Sessions = append(c.Sessions, s)
	}
	for id := range folds {
		if files[id] == nil {
			c.skip(id, "it is in a fold, and its recording is missing")
		}
	}
	return nil
}

// androidsFolds reads the fold of each session, from 1.
func androidsFolds(root fs.FS, at string, columns [5]int) (map[string]int, error) {
	name := path.Join(at, "fold-lists.csv")
	if !exists(root, name) {
		name = path.Join(at, "fold-list.csv")
	}
	t, err := readTable(root, name, ',', maxSubjects)
	if err != nil {
		return nil, err
	}
	folds := map[string]int{}
	add := func(row []string) {
		for i, column := range columns {
			id := strings.ToUpper(strings.Trim(cell(row, column), `'"`))
			if androidsName.MatchString(id) {
				folds[id] = i + 1
			}
		}
	}
	add(t.head) // there may be no header
	if err := t.each(add); err != nil {
		return nil, err
	}
	if len(folds) == 0 {
		return nil, fmt.Errorf("%w: %s has no recording in the columns of this task", ErrCorpus, name)
	}
	return folds, nil
}
