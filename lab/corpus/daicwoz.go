package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

// phq8Positive is the sum of PHQ-8 from which a participant counts as depressed
// (Kroenke et al. 2009).
const phq8Positive = 10

// daicMisaligned are the sessions of DAIC-WOZ whose transcripts do not fit the
// recording in time, so that it is unknown who speaks when.
var daicMisaligned = []string{"318", "321", "341", "362"}

// daicInterrupted are stretches in which the interview was interrupted.
var daicInterrupted = map[string]dsp.Segment{"373": {Start: 395, End: 428}, "444": {Start: 286, End: 387}}

// readDAICWOZ reads the Distress Analysis Interview Corpus, Wizard of Oz
// (Gratch et al. 2014), in the layout of AVEC 2017:
//
//	300_P/300_AUDIO.wav, 300_P/300_TRANSCRIPT.csv (tabs: start_time stop_time speaker value)
//	train_split_Depression_AVEC2017.csv, dev_…, full_test_split.csv or test_…
//
// The interviewer, Ellie, is heard in the recordings. What comes before her
// first turn is not part of the interview. 451, 458 and 480 have no turn of
// hers, so that all of theirs counts. The positive class is PHQ-8 ≥ 10 by the
// sum: 409 is labelled 0 with a sum of 10.
func readDAICWOZ(root fs.FS, _ screen.Category) (*Corpus, error) {
	c := &Corpus{
		Name: "DAIC-WOZ", Criterion: "PHQ-8 of 10 or more", Language: "en",
		Protocol: "the split of AVEC 2017 (107 train, 35 dev, 47 test): F1 of depressed and not depressed, RMSE and MAE of PHQ-8, a participant at a time",
	}
	columns := []string{"phq8_score", "phq_score"}
	files := func(dir string, s *Session) (File, error) { return daicFile(root, dir, s) }
	labels := 0
	for _, part := range []struct{ split, file, other string }{
		{"train", "train_split_Depression_AVEC2017.csv", ""},
		{"dev", "dev_split_Depression_AVEC2017.csv", ""},
		{"test", "full_test_split.csv", "test_split_Depression_AVEC2017.csv"},
	} {
		file := part.file
		if !exists(root, file) && part.other != "" {
			file = part.other
		}
		if !exists(root, file) {
			continue
		}
		labels++
		if err := c.phq8Split(root, file, part.split, columns, files); err != nil {
			return nil, err
		}
	}
	if labels == 0 {
		return nil, fmt.Errorf("%w: no train_split_Depression_AVEC2017.csv, dev_split_Depression_AVEC2017.csv or full_test_split.csv", ErrCorpus)
	}
	return c, nil
}

// phq8Split reads a table of the participants of a part of a USC corpus, with
// the sum of PHQ-8 in one of the columns, and lets files find the recording of
// each session that has a label.
func (c *Corpus) phq8Split(root fs.FS, file, split string, columns []string, files func(dir string, s *Session) (File, error)) error {
	t, err := readTable(root, file, ',', maxSubjects)
	if err != nil {
		return err
	}
	id, err := t.need("participant_id")
	if err != nil {
		return err
	}
	score, gender := t.column(columns...), t.column("gender")
	seen := map[int]bool{}
	return t.each(func(row []string) {
		n, ok := whole(cell(row, id))
		if !ok {
			return // an empty line at the end
		}
		if seen[n] {
			c.skip(strconv.Itoa(n), "it stands in %s again", file)
			return
		}
		seen[n] = true
		s := Session{ID: strconv.Itoa(n), Speaker: strconv.Itoa(n), Split: split}
		if s.Total, s.HasTotal = whole(cell(row, score)); !s.HasTotal || s.Total < 0 || s.Total > 24 {
			c.skip(s.ID, "%s gives no label", file)
			return
		}
		s.Positive = s.Total >= phq8Positive
		s.Metadata.Gender = daicGender(cell(row, gender))
		f, err := files(s.ID+"_P", &s)
		if err != nil {
			c.skip(s.ID, "%v", err)
			return
		}
		s.Files = []File{f}
		c.Sessions = append(c.Sessions, s)
	})
}

// phq8Audio is the recording of a session of a USC corpus.
func phq8Audio(root fs.FS, dir string, s *Session) (File, error) {
	f := File{Path: path.Join(dir, s.ID+"_AUDIO.wav")}
	if !exists(root, f.Path) {
		return f, fmt.Errorf("%s is missing", f.Path)
	}
	return f, nil
}

// daicFile finds the recording of a session of DAIC-WOZ and who speaks when.
func daicFile(root fs.FS, dir string, s *Session) (File, error) {
	if slices.Contains(daicMisaligned, s.ID) {
		return File{}, errors.New("the transcript is not aligned with the recording")
	}
	f, err := phq8Audio(root, dir, s)
	if err != nil {
		return f, err
	}
	if err := f.daicTurns(root, path.Join(dir, s.ID+"_TRANSCRIPT.csv")); err != nil {
		return f, err
	}
	if cut, ok := daicInterrupted[s.ID]; ok {
		f.Participant, f.Interviewer = without(f.Participant, cut), without(f.Interviewer, cut)
	}
	if len(f.Participant) == 0 {
		return f, errors.New("the participant has no turn")
	}
	return f, nil
}

// daicGender reads the coding of the USC corpora, which is not written there:
// 0 is male and 1 female. Words are taken too.
func daicGender(s string) screen.Gender {
	switch strings.ToLower(s) {
	case "0", "male":
		return screen.Male
	case "1", "female":
		return screen.Female
	}
	return 0
}

// daicTurns reads who speaks when.
func (f *File) daicTurns(root fs.FS, name string) error {
	t, err := readTable(root, name, '\t', maxTurns)
	if err != nil {
		return err
	}
	start, err1 := t.need("start_time")
	stop, err2 := t.need("stop_time")
	speaker, err3 := t.need("speaker")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	value := t.column("value")
	ellie := false // whether she has a row
	begun := 0     // how many turns the participant has before her first
	err = t.each(func(row []string) {
		who := cell(row, speaker)
		from, ok1 := seconds(cell(row, start))
		to, ok2 := seconds(cell(row, stop))
		ellie = ellie || who == "Ellie"
		if !ok1 || !ok2 || to <= from || isSync(cell(row, value)) {
			return
		}
		turn := dsp.Segment{Start: from, End: to}
		switch who {
		case "Ellie":
			f.Interviewer = append(f.Interviewer, turn)
		case "Participant":
			f.Participant = append(f.Participant, turn)
		}
		if len(f.Interviewer) == 0 {
			begun = len(f.Participant)
		}
	})
	if err != nil {
		return err
	}
	if ellie {
		f.Participant = f.Participant[begun:]
	}
	f.Participant, f.Interviewer = merged(f.Participant), merged(f.Interviewer)
	return nil
}

// isSync says that a turn is a mark by which recordings were aligned.
func isSync(value string) bool {
	v := strings.ToLower(strings.TrimSpace(value))
	if len(v) < 2 || !strings.ContainsAny(v[:1], "<[") {
		return false
	}
	return slices.Contains([]string{"sync", "synch", "syncing", "synching"}, v[1:len(v)-1])
}

// readEDAIC reads the extended corpus (DeVault et al. 2014; AVEC 2019):
//
//	300_P/300_AUDIO.wav, 300_P/300_Transcript.csv (Start_Time,End_Time,Text,Confidence)
//	labels/train_split.csv, dev_split.csv, test_split.csv
//
// The transcript is of the participant alone, though both are heard in some
// releases. It holds the sessions of DAIC-WOZ as well: never train on one and
// test on the other.
func readEDAIC(root fs.FS, _ screen.Category) (*Corpus, error) {
	c := &Corpus{
		Name: "E-DAIC", Criterion: "PHQ-8 of 10 or more", Language: "en",
		Protocol: "the split of AVEC 2019 (163 train, 56 dev, 56 test, the last with an autonomous agent alone): CCC and RMSE of PHQ-8",
	}
	columns := []string{"phq_score", "phq8_score"}
	files := func(dir string, s *Session) (File, error) { return edaicFile(root, dir, s) }
	found := false
	for _, split := range []string{"train", "dev", "test"} {
		file := "labels/" + split + "_split.csv"
		if !exists(root, file) {
			continue
		}
		found = true
		if err := c.phq8Split(root, file, split, columns, files); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: no labels/train_split.csv, dev_split.csv or test_split.csv", ErrCorpus)
	}
	return c, nil
}

// edaicFile finds the recording of a session of E-DAIC and when the participant
// speaks.
func edaicFile(root fs.FS, dir string, s *Session) (File, error) {
	f, err := phq8Audio(root, dir, s)
	if err != nil {
		return f, err
	}
	f.Participant, err = turns(root, path.Join(dir, s.ID+"_Transcript.csv"))
	return f, err
}

// turns reads a transcript of one speaker.
func turns(root fs.FS, name string) ([]dsp.Segment, error) {
	t, err := readTable(root, name, ',', maxTurns)
	if err != nil {
		return nil, err
	}
	start, err := t.need("start_time")
	if err != nil {
		return nil, err
	}
	end, err := t.need("end_time")
	if err != nil {
		return nil, err
	}
	var s []dsp.Segment
	err = t.each(func(row []string) {
		from, ok1 := seconds(cell(row, start))
		to, ok2 := seconds(cell(row, end))
		if ok1 && ok2 && to > from {
			s = append(s, dsp.Segment{Start: from, End: to})
		}
	})
	if err != nil {
		return nil, err
	}
	if len(s) == 0 {
		return nil, fmt.Errorf("%w: %s has no turn", ErrCorpus, name)
	}
	return merged(s), nil
}
