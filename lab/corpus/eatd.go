package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"

	"github.com/voicescreen/voicescreen/screen"
)

// sdsPositive is the index of the Self-Rating Depression Scale from which a
// participant counts as depressed (Zung 1965; the Chinese norm).
const sdsPositive = 53

// eatdFolders are the spellings in which the corpus is unpacked, and the split
// that each is of.
var eatdFolders = []struct {
	glob, split string
}{
	{"t_*", "train"}, {"train/*", "train"}, {"Data/*", "train"},
	{"v_*", "dev"}, {"validation/*", "dev"}, {"ValidationData/*", "dev"},
}

// leastWAV is the size of a WAV file without samples: some of the corpus's are
// not even that long.
const leastWAV = 44

// maxLabel is the size of the largest file of one number. Chosen.
const maxLabel = 4 << 10

var firstNumber = regexp.MustCompile(`\d+(\.\d+)?`)

// readEATD reads the Emotional Audio-Textual Depression Corpus (Shen et al.
// 2022): three answers of each of 162 students, and the index of the
// Self-Rating Depression Scale in new_label.txt. The denoised recordings
// (positive_out.wav) are taken, as the authors do, or where there are none the
// raw ones. An empty recording is left out of its session.
func readEATD(root fs.FS, _ screen.Category) (*Corpus, error) {
	c := &Corpus{
		Name: "EATD", Criterion: "SDS index of 53 or more", Language: "zh",
		Protocol: "trained on 83 participants, tested on 79: F1 of the depressed, a participant at a time",
	}
	for _, f := range eatdFolders {
		dirs, err := fs.Glob(root, f.glob)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			if info, err := fs.Stat(root, dir); err == nil && info.IsDir() && !hidden(dir) {
				c.eatdSession(root, dir, f.split)
			}
		}
	}
	if len(c.Sessions)+len(c.Skipped) == 0 {
		return nil, fmt.Errorf("%w: no folder t_1 or train/1, v_1 or validation/1", ErrCorpus)
	}
	return c, nil
}

func (c *Corpus) eatdSession(root fs.FS, dir, split string) {
	label, err := readFile(root, path.Join(dir, "new_label.txt"), maxLabel)
	if err != nil {
		c.skip(dir, "new_label.txt is missing or has more than %d bytes", maxLabel)
		return
	}
	index, err := strconv.ParseFloat(firstNumber.FindString(string(label)), 64)
	if err != nil || index > 100 {
		c.skip(dir, "new_label.txt holds no index")
		return
	}
	s := Session{ID: dir, Speaker: dir, Positive: index >= sdsPositive, Split: split}
	for _, kind := range []string{"positive", "neutral", "negative"} {
		for _, name := range []string{path.Join(dir, kind+"_out.wav"), path.Join(dir, kind+".wav")} {
			info, err := fs.Stat(root, name)
			if err != nil {
				continue
			}
			if info.Size() > leastWAV {
				s.Files = append(s.Files, File{Path: name})
			}
			break
		}
	}
	if len(s.Files) == 0 {
		c.skip(dir, "every recording is missing or empty")
		return
	}
	c.Sessions = append(c.Sessions, s)
}
