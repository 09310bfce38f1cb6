package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/voicescreen/voicescreen/screen"
)

const (
	phqHead = "participant_id\tsession_id\tfeeling_bad_self\tfeeling_depressed\tmove_speak_slow\tno_appetite\tno_energy\tno_interest\tthoughts_death\ttrouble_concentrate\ttrouble_sleeping\n"
	gadHead = "participant_id\tsession_id\tafraid_of_things\tcant_control_worry\teasily_agitated\thard_to_sit_still\tnervous_anxious\ttrouble_relaxing\tworry_too_much\ttough_to_work\n"
)

// answered is a row of answers that are all alike.
func answered(participant, session, frequency string, items int) string {
	return participant + "\t" + session + strings.Repeat("\t"+frequency, items) + "\n"
}

func recording(participant, session, task string) string {
	return fmt.Sprintf("sub-%[1]s/ses-%[2]s/audio/sub-%[1]s_ses-%[2]s_task-%[3]s.wav", participant, session, task)
}

func bridge2AI() fstest.MapFS {
	root := tree("== phenotype/questionnaire/phq9.tsv\n" + phqHead +
		answered("p1", "s1", "More than half the days", 9) +
		answered("p2", "s1", "Several days", 9) +
		answered("p2", "s2", "Nearly every day", 9) +
		answered("p3", "s9", "Not at all", 9) +
		answered("p4", "s1", "", 9) +
		answered("p5", "s1", "0", 9) + answered("p5", "s1", "1", 9) +
		answered("p6", "s1", "2.0", 9) + answered("p6", "s1", "2.0", 9) +
		answered("p7", "s1", "Several days", 9) +
		answered("p8", "s1", "Several days", 9) + answered("p8", "", "Several days", 9) +
		"== phenotype/questionnaire/gad7_anxiety.tsv\n" + gadHead +
		answered("p1", "s1", "Several days", 7) + answered("p2", "s1", "Nearly every day", 7) +
		"== phenotype/demographics/demographics.tsv\nparticipant_id\tage\tsex_at_birth\np1\t61\tFemale\np2\t34.0\tMale\np3\t90 and above\tPrefer not to answer\n" +
		"== features/static_features.tsv\nparticipant_id\tsession_id\ttask_name\tmean_f0_hertz\np1\ts1\tfree-speech-1\t190\n")
	return wav(root,
		recording("p1", "s1", "free-speech-2"), recording("p1", "s1", "Free-speech-1"), recording("p1", "s1", "rainbow-passage"),
		recording("p1", "s1", "prolonged-vowel"), "sub-p1/ses-s1/audio/._sub-p1_ses-s1_task-free-speech-1.wav", "sub-p1/ses-s1/audio/sub-p1_ses-s1_task-free-speech-1.json",
		recording("p2", "s1", "free-speech-1"), recording("p2", "s2", "free-speech-1"), recording("p2", "s2", "picture-description"),
		recording("p3", "s1", "free-speech-1"), recording("p4", "s1", "free-speech-1"), recording("p5", "s1", "free-speech-1"),
		"sub-p6/ses-s1/voice/sub-p6_ses-s1_task-free-speech-1_run-1_audio.wav",
		recording("p7", "s1", "prolonged-vowel"), recording("p8", "s1", "free-speech-1"), recording("p9", "s1", "free-speech-1"))
}

func TestBridge2AI(t *testing.T) {
	for _, at := range []string{"", "b2ai-voice-audio/"} {
		var root fs.FS = bridge2AI()
		if at != "" {
			inner := fstest.MapFS{}
			for name, f := range root.(fstest.MapFS) {
				inner[at+name] = f
			}
			root = inner
		}
		c := open(t, "bridge2ai-free", root, screen.Depression)
		used, skipped := ids(c)
		if used != "p1_s1 p2_s1 p2_s2 p3_s9 p6_s1 p8_s1" || skipped != "p4 p4_s1 p5_s1 p7_s1 p8 p9" {
			t.Fatalf("got %s and left out %s: %v", used, skipped, c.Skipped)
		}
		s := c.Sessions[0]
		if !s.Positive || s.Total != 18 || !s.HasTotal || s.Speaker != "p1" || s.Metadata != (screen.Metadata{Age: 61, Gender: screen.Female}) {
			t.Errorf("got %+v", s)
		}
		if len(s.Files) != 2 || s.Files[0].Path != at+recording("p1", "s1", "Free-speech-1") || s.Files[1].Path != at+recording("p1", "s1", "free-speech-2") {
			t.Errorf("got %+v, want both recordings of free speech and nothing else", s.Files)
		}
		if a, b := c.Sessions[1], c.Sessions[2]; a.Positive || a.Total != 9 || !b.Positive || b.Total != 27 || a.Speaker != b.Speaker || a.Metadata.Age != 34 {
			t.Errorf("got %+v and %+v, want two sessions of one person with sums of their own", a, b)
		}
		if s := c.Sessions[3]; s.Metadata != (screen.Metadata{}) || s.Total != 0 {
			t.Errorf("got %+v, want the only session of the participant", s)
		}

		c = open(t, "bridge2ai-reading", root, screen.Anxiety)
		if used, _ := ids(c); used != "p1_s1" || c.Sessions[0].Positive || c.Sessions[0].Total != 7 || c.Criterion != "GAD-7 of 10 or more" {
			t.Errorf("reading: got %s, %+v", used, c.Sessions)
		}
		c = open(t, "bridge2ai-picture", root, screen.Depression)
		if used, _ := ids(c); used != "p2_s2" {
			t.Errorf("picture: got %s", used)
		}
	}
}

// TestBridge2AIOfFormerReleases reads tables in the folder phenotype, with a column of
// the session that is named by the questionnaire, or with none.
func TestBridge2AIOfFormerReleases(t *testing.T) {
	row := answered("p1", "s1", "2", 9)
	for name, table := range map[string]string{
		"former name": strings.Replace(phqHead, "session_id", "phq_9_session_id", 1) + row,
		"no session":  strings.Replace(phqHead, "session_id", "phq9_duration", 1) + row,
	} {
		root := wav(tree("== phenotype/phq9.tsv\n"+table), recording("p1", "s1", "free-speech-1"))
		if s := open(t, "bridge2ai-free", root, screen.Depression).Sessions; len(s) != 1 || s[0].Total != 18 || s[0].Metadata != (screen.Metadata{}) {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

func TestBridge2AIThatCannotBeRead(t *testing.T) {
	audio := recording("p1", "s1", "free-speech-1")
	for name, c := range map[string]struct {
		root fstest.MapFS
		task screen.Category
		want string
	}{
		"no audio":            {tree("== features/static_features.tsv\nparticipant_id\n== phenotype/questionnaire/phq9.tsv\n" + phqHead), screen.Depression, "not the measures of voice/1"},
		"no folder":           {fstest.MapFS{}, screen.Depression, "no folder sub-ID"},
		"no table":            {wav(fstest.MapFS{}, audio), screen.Depression, "no phenotype/questionnaire/phq9.tsv"},
		"no table of anxiety": {wav(tree("== phenotype/questionnaire/phq9.tsv\n"+phqHead), audio), screen.Anxiety, "gad7_anxiety.tsv"},
		"no item":             {wav(tree("== phenotype/questionnaire/phq9.tsv\nparticipant_id\tno_interest\n"), audio), screen.Depression, "no column feeling_depressed"},
		"no participant":      {wav(tree("== phenotype/questionnaire/phq9.tsv\nwho\n"), audio), screen.Depression, "no column participant_id"},
		"no answers":          {wav(tree("== phenotype/questionnaire/phq9.tsv\n"+phqHead), audio), screen.Depression, "no session"},
		"no labels of fakes":  {bridge2AI(), screen.Deepfake, "no labels of deepfake"},
	} {
		if _, err := Open("bridge2ai-free", c.root, c.task); !errors.Is(err, ErrCorpus) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrCorpus about %q", name, err, c.want)
		}
	}
}
