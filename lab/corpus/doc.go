// Package corpus reads the corpora of depressed and healthy speech that
// research is done on, by the layouts in which they are given out: DAIC-WOZ,
// E-DAIC, Androids, EATD, MODMA and Bridge2AI-Voice. This module holds none of them; their
// makers give them out under their own terms.
//
// A reader finds the recordings and their labels, and which parts of a
// recording are the participant's: a model must not use anything else, since
// the interviewer's questions reveal who was found depressed. The parts of the
// interviewer are given too, as a control: a model that does as well on them
// has learned the interview. It reads no audio.
//
// What cannot be used is left out and listed with its reason, so that a figure
// always says what it is on.
package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

// ErrCorpus says that a folder does not hold the corpus. The message says what
// is missing or malformed, and where.
var ErrCorpus = errors.New("corpus: invalid folder")

// Session is one labelled piece of speech of one person: one recording or
// several one after the other.
type Session struct {
	ID       string // within the corpus
	Speaker  string // who speaks, within the corpus
	Files    []File // in the order in which they were recorded
	Positive bool   // by the corpus's own criterion, see Corpus.Criterion
	Total    int    // of the questionnaire, if HasTotal
	HasTotal bool
	Metadata screen.Metadata // what the corpus says of the person
	Split    string          // "train", "dev" or "test"; "" where the corpus has no split
	Fold     int             // of the corpus's own folds, from 1; 0 where it has none
}

// File is a recording of a session.
type File struct {
	Path        string        // slash-separated, within the corpus
	Participant []dsp.Segment // where the participant speaks, ascending; nil is everywhere
	Interviewer []dsp.Segment // where the interviewer speaks; nil is unknown
}

// Skipped is a session that cannot be used.
type Skipped struct{ ID, Reason string }

// Corpus is what a reader found.
type Corpus struct {
	Name      string
	Criterion string // what makes a session positive, in words
	Protocol  string // how results on it are usually reported, in words
	Language  string // of the recordings, ISO 639-1
	Sessions  []Session
	Skipped   []Skipped
}

// readers are the readers by the names that Open takes.
var readers = map[string]func(fs.FS, screen.Category) (*Corpus, error){
	"daic-woz":           readDAICWOZ,
	"e-daic":             readEDAIC,
	"androids-reading":   readAndroidsReading,
	"androids-interview": readAndroidsInterview,
	"eatd":               readEATD,
	"modma":              readMODMA,
	"bridge2ai-free":     readBridge2AI("free speech"),
	"bridge2ai-picture":  readBridge2AI("picture description"),
	"bridge2ai-reading":  readBridge2AI("reading"),
}

// Names returns the names that Open takes, sorted.
func Names() []string {
	var names []string
	for n := range readers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Open reads the corpus of that name in a folder, with the labels of the task.
// The sessions are in the order of their identifiers. The error wraps
// ErrCorpus where the folder does not hold what it should or there are no
// labels of the task.
func Open(name string, root fs.FS, task screen.Category) (*Corpus, error) {
	read, ok := readers[name]
	if !ok {
		return nil, fmt.Errorf("%w: there is no reader for %q, want one of %s", ErrCorpus, name, strings.Join(Names(), ", "))
	}
	anxious := name == "modma" || strings.HasPrefix(name, "bridge2ai-") // have labels of anxiety
	if task != screen.Depression && (task != screen.Anxiety || !anxious) {
		return nil, fmt.Errorf("%w: %s has no labels of %v", ErrCorpus, name, task)
	}
	c, err := read(root, task)
	if err != nil {
		return nil, err
	}
	if len(c.Sessions) == 0 {
		return nil, fmt.Errorf("%w: no session of %s can be used", ErrCorpus, c.Name)
	}
	slices.SortFunc(c.Sessions, func(a, b Session) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Skipped, func(a, b Skipped) int { return strings.Compare(a.ID, b.ID) })
	return c, nil
}

func (c *Corpus) skip(id, format string, args ...any) {
	c.Skipped = append(c.Skipped, Skipped{id, fmt.Sprintf(format, args...)})
}

// exists says whether a file is there.
func exists(root fs.FS, name string) bool {
	info, err := fs.Stat(root, name)
	return err == nil && !info.IsDir()
}

// hidden says that a file is one that a Mac leaves behind when it unpacks an
// archive, or another that is not meant to be seen.
func hidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") }
