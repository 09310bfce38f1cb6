package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// maxParticipants is how many rows a table of Bridge2AI-Voice may have. Chosen: twice
// the 10,000 voices that its makers plan.
const maxParticipants = 20000

// bridge2AITasks are the beginnings of the names of the tasks of each reader.
var bridge2AITasks = map[string][]string{
	"free speech":         {"free-speech"},
	"picture description": {"picture-description"},
	"reading":             {"rainbow-passage", "caterpillar-passage"},
}

// questionnaire is a questionnaire of Bridge2AI-Voice.
type questionnaire struct {
	name    string
	files   []string // that may hold its answers, below phenotype, the current one first
	session string   // the column of the session in former releases
	items   []string // columns
}

var bridge2AIQuestionnaires = map[screen.Category]questionnaire{
	screen.Depression: {
		"PHQ-9", []string{"questionnaire/phq9.tsv", "phq9.tsv"}, "phq_9_session_id",
		[]string{
			"no_interest", "feeling_depressed", "trouble_sleeping", "no_energy", "no_appetite",
			"feeling_bad_self", "trouble_concentrate", "move_speak_slow", "thoughts_death",
		},
	},
	screen.Anxiety: {
		"GAD-7", []string{"questionnaire/gad7_anxiety.tsv", "gad7_anxiety.tsv", "gad7.tsv"}, "gad_7_session_id",
		[]string{
			"nervous_anxious", "cant_control_worry", "worry_too_much", "trouble_relaxing",
			"hard_to_sit_still", "easily_agitated", "afraid_of_things",
		},
	},
}

// frequencies are the answers to an item, as text or number, and their points.
var frequencies = map[string]int{
	"not at all": 0, "several days": 1, "more than half the days": 2, "nearly every day": 3,
	"0": 0, "1": 1, "2": 2, "3": 3, "0.0": 0, "1.0": 1, "2.0": 2, "3.0": 3,
}

// readBridge2AI returns a reader of one kind of task of Bridge2AI-Voice, in the release
// with audio (b2ai-voice-audio; tables as in release 3.0):
//
//	phenotype/questionnaire/phq9.tsv, gad7_anxiety.tsv   participant_id, session_id, the items
//	phenotype/demographics/demographics.tsv              participant_id, age, sex_at_birth
//	sub-ID/ses-ID/audio/sub-ID_ses-ID_task-NAME.wav
//
// where the tables may also be in phenotype itself, the recordings in the folder voice,
// and the columns of the session may be missing. The release without audio has only
// features of other programs (features/static_features.tsv, Parquet files), which are
// not the measures of voice/1 and cannot replace them; the error says so.
//
// A Session is what a participant said in the tasks of that kind in one session, with
// the sum of the answers of that session. Answers without a session belong to the only
// session of the participant.
func readBridge2AI(kind string) func(fs.FS, screen.Category) (*Corpus, error) {
	return func(root fs.FS, task screen.Category) (*Corpus, error) {
		q := bridge2AIQuestionnaires[task]
		c := &Corpus{
			Name: "Bridge2AI-Voice, " + kind, Criterion: q.name + " of 10 or more", Language: "en",
			Protocol: "no official split: folds by participant: AUC",
		}
		sub, err := bridge2AIRoot(root)
		if err != nil {
			return nil, err
		}
		answers, err := c.bridge2AIAnswers(root, sub, q)
		if err != nil {
			return nil, err
		}
		people, err := bridge2AIPeople(root, sub)
		if err != nil {
			return nil, err
		}
		dirs, err := fs.ReadDir(root, sub)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorpus, err)
		}
		found := map[string]bool{}
		for _, d := range dirs {
			id, ok := strings.CutPrefix(d.Name(), "sub-")
			if !ok || !d.IsDir() {
				continue
			}
			found[id] = true
			if len(answers[id]) == 0 {
				c.skip(id, "%s has no whole %s of the participant", q.files[0], q.name)
				continue
			}
			c.bridge2AIParticipant(root, path.Join(sub, d.Name()), id, kind, answers[id], people[id])
		}
		for id := range answers {
			if !found[id] {
				c.skip(id, "there is no folder sub-%s", id)
			}
		}
		return c, nil
	}
}

// bridge2AIRoot returns the folder of the participants: the root, or one in it with the
// name of the release.
func bridge2AIRoot(root fs.FS) (string, error) {
	for _, at := range []string{".", "b2ai-voice-audio"} {
		dirs, err := fs.ReadDir(root, at)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(dirs, func(d fs.DirEntry) bool { return d.IsDir() && strings.HasPrefix(d.Name(), "sub-") }) {
			return at, nil
		}
	}
	for _, name := range []string{"features/static_features.tsv", "static_features.tsv"} {
		if exists(root, name) {
			return "", fmt.Errorf("%w: no folder sub-ID: this is the release without audio, and the features of openSMILE and Praat in %s are not the measures of voice/1; the release with audio is b2ai-voice-audio", ErrCorpus, name)
		}
	}
	return "", fmt.Errorf("%w: no folder sub-ID, want the release of Bridge2AI-Voice with audio", ErrCorpus)
}

// phenotype reads the first of the tables that is there; nil if none is.
func phenotype(root fs.FS, at string, names ...string) (*table, error) {
	for _, n := range names {
		if n = path.Join(at, "phenotype", n); exists(root, n) {
			return readTable(root, n, '\t', maxParticipants)
		}
	}
	return nil, nil
}

// answer is the sum of a questionnaire.
type answer struct {
	session string // "" if unknown
	total   int
	differs bool // another row of the same session has another sum
}

// bridge2AIAnswers returns the answers by participant. Rows in which an item is missing
// are left out of the corpus.
func (c *Corpus) bridge2AIAnswers(root fs.FS, at string, q questionnaire) (map[string][]answer, error) {
	t, err := phenotype(root, at, q.files...)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fmt.Errorf("%w: no phenotype/%s", ErrCorpus, q.files[0])
	}
	id, err := t.need("participant_id", "record_id")
	if err != nil {
		return nil, err
	}
	var items []int
	for _, name := range q.items {
		i, err := t.need(name)
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	session := t.column("session_id", q.session)
	out := map[string][]answer{}
	seen := map[[2]string]int{} // participant and session: the place in out
	err = t.each(func(row []string) {
		a := answer{session: strings.TrimPrefix(cell(row, session), "ses-")}
		who := strings.TrimPrefix(cell(row, id), "sub-")
		if who == "" {
			return
		}
		for _, i := range items {
			points, ok := frequencies[strings.ToLower(cell(row, i))]
			if !ok {
				c.skip(bridge2AIID(who, a.session), "an answer of the %s is missing or unknown", q.name)
				return
			}
			a.total += points
		}
		key := [2]string{who, a.session}
		if i, ok := seen[key]; ok {
			out[who][i].differs = out[who][i].differs || out[who][i].total != a.total
			return
		}
		seen[key] = len(out[who])
		out[who] = append(out[who], a)
	})
	return out, err
}

func bridge2AIID(participant, session string) string {
	if session == "" {
		return participant
	}
	return participant + "_" + session
}

// bridge2AIPeople returns what the table of demographics says of the participants.
func bridge2AIPeople(root fs.FS, at string) (map[string]screen.Metadata, error) {
	t, err := phenotype(root, at, "demographics/demographics.tsv", "demographics.tsv")
	if t == nil || err != nil {
		return nil, err
	}
	id, err := t.need("participant_id", "record_id")
	if err != nil {
		return nil, err
	}
	age, sex := t.column("age"), t.column("sex_at_birth", "gender_identity")
	people := map[string]screen.Metadata{}
	return people, t.each(func(row []string) {
		var m screen.Metadata
		if n, ok := whole(cell(row, age)); ok && n > 0 {
			m.Age = n
		}
		switch s := strings.ToLower(cell(row, sex)); {
		case strings.HasPrefix(s, "female"):
			m.Gender = screen.Female
		case strings.HasPrefix(s, "male"):
			m.Gender = screen.Male
		}
		people[strings.TrimPrefix(cell(row, id), "sub-")] = m
	})
}

// bridge2AIParticipant adds the sessions of a participant that have answers.
func (c *Corpus) bridge2AIParticipant(root fs.FS, dir, id, kind string, answers []answer, m screen.Metadata) {
	var sessions []string
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		c.skip(id, "sub-%s cannot be read", id)
		return
	}
	for _, e := range entries {
		if s, ok := strings.CutPrefix(e.Name(), "ses-"); ok && e.IsDir() {
			sessions = append(sessions, s)
		}
	}
	for _, a := range answers {
		s := Session{
			ID: bridge2AIID(id, a.session), Speaker: id, Metadata: m,
			Total: a.total, HasTotal: true, Positive: a.total >= screen.PositiveTotal,
		}
		at := a.session
		if !slices.Contains(sessions, at) && len(sessions) == 1 && len(answers) == 1 {
			at = sessions[0]
		}
		switch s.Files = bridge2AIFiles(root, path.Join(dir, "ses-"+at), kind); {
		case a.differs:
			c.skip(s.ID, "two rows of one session have different sums")
		case !slices.Contains(sessions, at):
			c.skip(s.ID, "the answers belong to no one session with recordings")
		case len(s.Files) == 0:
			c.skip(s.ID, "the session has no recording of %s", kind)
		default:
			c.Sessions = append(c.Sessions, s)
		}
	}
}

// bridge2AIFiles returns the recordings of a kind of task in a session, by name.
func bridge2AIFiles(root fs.FS, dir, kind string) (files []File) {
	for _, folder := range []string{"audio", "voice"} {
		entries, err := fs.ReadDir(root, path.Join(dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries { // sorted by name
			_, task, ok := strings.Cut(strings.ToLower(e.Name()), "_task-")
			if !ok || hidden(e.Name()) || !strings.HasSuffix(task, ".wav") {
				continue
			}
			if slices.ContainsFunc(bridge2AITasks[kind], func(t string) bool { return strings.HasPrefix(task, t) }) {
				files = append(files, File{Path: path.Join(dir, folder, e.Name())})
			}
		}
	}
	return files
}
