package corpus

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/xuri/excelize/v2"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

// tree makes a folder of the files of a text: a line "== name" begins each.
func tree(text string) fstest.MapFS {
	t := fstest.MapFS{}
	for _, part := range strings.Split(text, "== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		t[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return t
}

func wav(t fstest.MapFS, names ...string) fstest.MapFS {
	for _, n := range names {
		t[n] = &fstest.MapFile{Data: make([]byte, 100)}
	}
	return t
}

func open(t *testing.T, name string, root fs.FS, task screen.Category) *Corpus {
	t.Helper()
	c, err := Open(name, root, task)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ids returns the identifiers of what can be used and of what cannot.
func ids(c *Corpus) (used, skipped string) {
	var u, s []string
	for _, x := range c.Sessions {
		u = append(u, x.ID)
	}
	for _, x := range c.Skipped {
		s = append(s, x.ID)
	}
	return strings.Join(u, " "), strings.Join(s, " ")
}

const transcript = "start_time\tstop_time\tspeaker\tvalue\n"

func TestDAICWOZ(t *testing.T) {
	root := tree("== train_split_Depression_AVEC2017.csv\n" +
		"Participant_ID,PHQ8_Binary,PHQ8_Score,Gender,PHQ8_NoInterest\n" +
		"303,0,0,0,0\n318,0,3,1,0\n409,0,10,0,1\n451,0,2,1,0\n373,1,15,1,1\n305,0,1,1,0\n306,0,1,1,0\n307,0,99,1,0\n\n" +
		"== full_test_split.csv\nParticipant_ID,PHQ_Binary,PHQ_Score,Gender\n300,0,2,1\n" +
		"== 303_P/303_TRANSCRIPT.csv\n" + transcript +
		"0.5\t1.5\tParticipant\tis this on\n2\t3\tParticipant\t<synch>\n4\t5\tEllie\thi_intro (hi i'm ellie)\n6\t8\tParticipant\tgood\n7.5\t9\tParticipant\tyes\n10\t12\tEllie\twhere\n13\t13\tParticipant\t\n14\t15\tParticipant\t[syncing]\nx\t16\tParticipant\thm\n17\t18\tParticipant\tatlanta, \"georgia\"\n" +
		"== 409_P/409_TRANSCRIPT.csv\n" + transcript + "1\t2\tEllie\thi\n3\t4\tParticipant\tfine\n" +
		"== 451_P/451_TRANSCRIPT.csv\n" + transcript + "1\t2\tParticipant\tyes\n" +
		"== 373_P/373_TRANSCRIPT.csv\n" + transcript + "1\t2\tEllie\thi\n390\t400\tParticipant\twait\n410\t420\tEllie\tno\n427\t430\tParticipant\tso\n" +
		"== 305_P/305_TRANSCRIPT.csv\nstart,stop\n" +
		"== 300_P/300_TRANSCRIPT.csv\n" + transcript + "1\t2\tEllie\thi\n3\t4\tParticipant\tfine\n" +
		"== ._303_P/303_TRANSCRIPT.csv\nrubbish\n")
	wav(root, "303_P/303_AUDIO.wav", "318_P/318_AUDIO.wav", "409_P/409_AUDIO.wav", "451_P/451_AUDIO.wav", "373_P/373_AUDIO.wav", "305_P/305_AUDIO.wav", "300_P/300_AUDIO.wav")
	c := open(t, "daic-woz", root, screen.Depression)
	used, skipped := ids(c)
	if used != "300 303 373 409 451" || skipped != "305 306 307 318" {
		t.Fatalf("got sessions %s and left out %s: %v", used, skipped, c.Skipped)
	}
	want := Session{
		ID: "303", Speaker: "303", Split: "train", HasTotal: true, Metadata: screen.Metadata{Gender: screen.Male},
		Files: []File{{
			Path:        "303_P/303_AUDIO.wav",
			Participant: []dsp.Segment{{Start: 6, End: 9}, {Start: 17, End: 18}},
			Interviewer: []dsp.Segment{{Start: 4, End: 5}, {Start: 10, End: 12}},
		}},
	}
	if got := c.Sessions[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := c.Sessions[0]; s.Split != "test" || s.Metadata.Gender != screen.Female {
		t.Errorf("got %+v, want the test split", s)
	}
	if s := c.Sessions[2].Files[0]; !reflect.DeepEqual(s.Participant, []dsp.Segment{{Start: 390, End: 395}, {Start: 428, End: 430}}) || len(s.Interviewer) != 1 {
		t.Errorf("interrupted session: got %+v", s)
	}
	if s := c.Sessions[3]; !s.Positive || s.Total != 10 {
		t.Errorf("409: got %+v, want it relabelled by its sum", s)
	}
	if s := c.Sessions[4].Files[0]; len(s.Participant) != 1 || s.Interviewer != nil {
		t.Errorf("a session without the interviewer: got %+v", s)
	}
}

func TestEDAIC(t *testing.T) {
	root := tree("== labels/train_split.csv\nParticipant_ID,Gender,PHQ_Binary,PHQ_Score,PCL-C (PTSD),PTSD Severity\n302,male,0,4,0,28\n303,female,1,11,0,30\n" +
		"== labels/test_split.csv\nParticipant_ID,Gender,PHQ_Binary,PHQ_Score\n600,female,0,5\n" +
		"== 302_P/302_Transcript.csv\nStart_Time,End_Time,Text,Confidence\n14.3,15.1,so,0.93\n20,21,\"well, no\",0.9\n" +
		"== 600_P/600_Transcript.csv\nStart_Time,End_Time,Text,Confidence\n")
	wav(root, "302_P/302_AUDIO.wav", "600_P/600_AUDIO.wav")
	c := open(t, "e-daic", root, screen.Depression)
	if used, skipped := ids(c); used != "302" || skipped != "303 600" {
		t.Fatalf("got %s and left out %s: %v", used, skipped, c.Skipped)
	}
	s := c.Sessions[0]
	if s.Total != 4 || s.Positive || s.Metadata.Gender != screen.Male || !reflect.DeepEqual(s.Files[0].Participant, []dsp.Segment{{Start: 14.3, End: 15.1}, {Start: 20, End: 21}}) {
		t.Errorf("got %+v", s)
	}
}

func TestAndroids(t *testing.T) {
	for _, at := range []string{"", "Androids-Corpus/"} {
		folds := "fold-lists.csv"
		if at == "" {
			folds = "fold-list.csv"
		}
		root := tree("== " + at + folds + "\nRead,,,,,,,Interview,,,,\n" +
			"'01_CF56_1','02_PM40_X',,,,,,'01_CF56_1',,,,'03_PF33_2'\n,'09_CM20_1',,,,,,,,,,\n")
		wav(root, at+"Reading-Task/audio/HC/01_CF56_1.wav", at+"Reading-Task/audio/PT/02_PM40_X.wav", at+"Reading-Task/audio/PT/._02_PM40_X.wav",
			at+"Reading-Task/audio/PT/strange.wav", at+"Reading-Task/audio/PT/07_PM41_1.wav",
			at+"Interview-Task/audio_clip/HC/01_CF56_1/02.wav", at+"Interview-Task/audio_clip/HC/01_CF56_1/01.wav", at+"Interview-Task/audio_clip/PT/03_PF33_2/1.wav",
			at+"Interview-Task/audio/PT/03_PF33_2.wav")
		c := open(t, "androids-reading", root, screen.Depression)
		if used, skipped := ids(c); used != "01_CF56_1 02_PM40_X" || skipped != "07_PM41_1 09_CM20_1 strange" {
			t.Fatalf("reading: got %s and left out %s", used, skipped)
		}
		if s := c.Sessions[1]; !s.Positive || s.Fold != 2 || s.Speaker != "02_P" || s.Metadata != (screen.Metadata{Age: 40, Gender: screen.Male}) {
			t.Errorf("reading: got %+v", s)
		}
		c = open(t, "androids-interview", root, screen.Depression)
		if used, _ := ids(c); used != "01_CF56_1 03_PF33_2" {
			t.Fatalf("interview: got %s", used)
		}
		if s := c.Sessions[0]; len(s.Files) != 2 || s.Files[0].Path != at+"Interview-Task/audio_clip/HC/01_CF56_1/01.wav" || s.Positive || s.Fold != 1 {
			t.Errorf("interview: got %+v", s)
		}
		if s := c.Sessions[1]; s.Fold != 5 {
			t.Errorf("interview: got fold %d, want 5", s.Fold)
		}
	}
}

func TestEATD(t *testing.T) {
	root := tree("== t_1/new_label.txt\n66.25\n== t_2/new_label.txt\nindex\n== v_3/new_label.txt\n52.5\n== v_4/label.txt\n50\n== v_5/new_label.txt\n40\n== t_1/neutral_out.wav\n\n")
	wav(root, "t_1/positive.wav", "t_1/positive_out.wav", "t_1/neutral.wav", "v_3/negative.wav", "v_4/negative.wav")
	c := open(t, "eatd", root, screen.Depression)
	if used, skipped := ids(c); used != "t_1 v_3" || skipped != "t_2 v_4 v_5" {
		t.Fatalf("got %s and left out %s: %v", used, skipped, c.Skipped)
	}
	if s := c.Sessions[0]; !s.Positive || s.HasTotal || s.Split != "train" || len(s.Files) != 1 || s.Files[0].Path != "t_1/positive_out.wav" {
		t.Errorf("got %+v, want the denoised recording, and the empty one left out", s)
	}
	if s := c.Sessions[1]; s.Positive || s.Split != "dev" || s.Files[0].Path != "v_3/negative.wav" {
		t.Errorf("got %+v", s)
	}
	other := tree("== train/7/new_label.txt\n53\n")
	wav(other, "train/7/neutral.wav")
	if c := open(t, "eatd", other, screen.Depression); !c.Sessions[0].Positive || c.Sessions[0].Split != "train" {
		t.Errorf("got %+v", c.Sessions[0])
	}
}

// workbook is a table of subjects as Excel writes it: with shared texts, one of
// them in runs, and one inline.
func workbook(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	sheet := f.GetSheetName(0)
	for _, c := range []struct {
		at    string
		value any
	}{
		{"A1", "subject id"}, {"B1", "type"}, {"E1", "GAD-7"}, {"F1", "gender"},
		{"A2", 2010001}, {"B2", "MDD"}, {"D2", 18}, {"E2", 9.0}, {"F2", "F"},
		{"A3", 3020002}, {"B3", "HC"}, {"D3", 3}, {"E3", 12},
		{"A4", 3020003}, {"B4", "HC"},
	} {
		if err := f.SetCellValue(sheet, c.at, c.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetCellRichText(sheet, "D1", []excelize.RichTextRun{{Text: "PHQ"}, {Text: "-9"}}); err != nil {
		t.Fatal(err)
	}
	thousands, err := f.NewStyle(&excelize.Style{NumFmt: 4}) // #,##0.00
	if err == nil {
		err = f.SetCellStyle(sheet, "A2", "A4", thousands)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWorkbookThatUnpacksWithoutEnd reads a small workbook with a large file.
func TestWorkbookThatUnpacksWithoutEnd(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("xl/worksheets/sheet1.xml")
	if err == nil {
		_, err = w.Write(make([]byte, maxUnpacked+1))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil || b.Len() > maxWorkbook {
		t.Fatalf("got %d bytes and error %v, want a small workbook", b.Len(), err)
	}
	root := fstest.MapFS{modmaTable + ".xlsx": &fstest.MapFile{Data: b.Bytes()}}
	if _, err := Open("modma", root, screen.Depression); !errors.Is(err, ErrCorpus) || !strings.Contains(err.Error(), "unzip size") {
		t.Errorf("got %v, want ErrCorpus about the unpacked size", err)
	}
}

func TestMODMA(t *testing.T) {
	book := fstest.MapFS{"audio_lanzhou_2015/" + modmaTable + ".xlsx": &fstest.MapFile{Data: workbook(t)}}
	wav(book, "audio_lanzhou_2015/02010001/02.wav", "audio_lanzhou_2015/02010001/01.wav", "audio_lanzhou_2015/03020002/01.wav")
	export := tree("== " + modmaTable + ".csv\nsubject id,type,,PHQ-9,GAD-7,gender\n2010001,MDD,,18,9,F\n03020002,HC,,3,12,\n3020003,HC\n")
	wav(export, "02010001/02.wav", "02010001/01.wav", "03020002/01.wav")
	for name, root := range map[string]fs.FS{"workbook": book, "export": export} {
		c := open(t, "modma", root, screen.Depression)
		if used, skipped := ids(c); used != "02010001 03020002" || skipped != "03020003" {
			t.Fatalf("%s: got %s and left out %s: %v", name, used, skipped, c.Skipped)
		}
		if s := c.Sessions[0]; !s.Positive || s.Total != 18 || s.Metadata.Gender != screen.Female || len(s.Files) != 2 || !strings.HasSuffix(s.Files[0].Path, "02010001/01.wav") {
			t.Errorf("%s: got %+v", name, s)
		}
		c = open(t, "modma", root, screen.Anxiety)
		if s := c.Sessions; s[0].Positive || s[0].Total != 9 || !s[1].Positive || s[1].Total != 12 {
			t.Errorf("%s: got %+v, want the labels of GAD-7", name, s)
		}
	}
}

func TestFoldersThatAreNoCorpus(t *testing.T) {
	for _, name := range Names() {
		if _, err := Open(name, fstest.MapFS{}, screen.Depression); !errors.Is(err, ErrCorpus) {
			t.Errorf("%s: got %v, want ErrCorpus", name, err)
		}
	}
	for name, c := range map[string]struct {
		corpus string
		root   fs.FS
		task   screen.Category
	}{
		"no such reader":        {"tess", fstest.MapFS{}, screen.Depression},
		"no labels of anxiety":  {"eatd", fstest.MapFS{}, screen.Anxiety},
		"no labels of fakes":    {"modma", fstest.MapFS{}, screen.Deepfake},
		"a table without ids":   {"daic-woz", tree("== train_split_Depression_AVEC2017.csv\nid,score\n"), screen.Depression},
		"an empty table":        {"e-daic", tree("== labels/dev_split.csv\n"), screen.Depression},
		"folds of another task": {"androids-reading", tree("== fold-lists.csv\n,,,,,,,'01_CF56_1'\n"), screen.Depression},
		"no workbook":           {"modma", tree("== " + modmaTable + ".xlsx\nrubbish"), screen.Depression},
		"nothing that is used":  {"eatd", tree("== t_1/new_label.txt\n66\n"), screen.Depression},
	} {
		if _, err := Open(c.corpus, c.root, c.task); !errors.Is(err, ErrCorpus) {
			t.Errorf("%s: got %v, want ErrCorpus", name, err)
		}
	}
}

func TestWithout(t *testing.T) {
	s := []dsp.Segment{{Start: 0, End: 1}, {Start: 2, End: 6}, {Start: 8, End: 9}}
	want := []dsp.Segment{{Start: 0, End: 1}, {Start: 2, End: 3}, {Start: 5, End: 6}, {Start: 8, End: 9}}
	if got := without(s, dsp.Segment{Start: 3, End: 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := without(s, dsp.Segment{Start: 0, End: 10}); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("Participant_ID,PHQ8_Score,Gender\n300,3,1\n", transcript+"1\t2\tEllie\thi\n3\t4\tParticipant\tno\n")
	f.Add(phqHead+answered("1", "1", "Several days", 9), transcript)
	f.Add("subject id,type,PHQ-9\n300,MDD,1\n", "Start_Time,End_Time\n1,2\n")
	f.Fuzz(func(t *testing.T, labels, turns string) {
		root := fstest.MapFS{}
		for _, name := range []string{"train_split_Depression_AVEC2017.csv", "labels/dev_split.csv", modmaTable + ".csv", "fold-list.csv", "t_1/new_label.txt", modmaTable + ".xlsx", "phenotype/phq9.tsv", "phenotype/demographics.tsv"} {
			root[name] = &fstest.MapFile{Data: []byte(labels)}
		}
		for _, name := range []string{"300_P/300_TRANSCRIPT.csv", "300_P/300_Transcript.csv"} {
			root[name] = &fstest.MapFile{Data: []byte(turns)}
		}
		wav(root, "300_P/300_AUDIO.wav", "00000300/01.wav", "t_1/positive.wav", "Reading-Task/HC/01_CF56_1.wav", recording("1", "1", "free-speech-1"))
		for _, name := range Names() {
			c, err := Open(name, root, screen.Depression)
			if err != nil {
				if !errors.Is(err, ErrCorpus) {
					t.Fatalf("%s: got %v, want ErrCorpus", name, err)
				}
				continue
			}
			for _, s := range c.Sessions {
				for _, x := range s.Files {
					for i, p := range x.Participant {
						if !(p.Duration() > 0) || i > 0 && p.Start <= x.Participant[i-1].End {
							t.Fatalf("%s: got turns %v", name, x.Participant)
						}
					}
				}
			}
		}
	})
}

// TestLargeTables reads tables and transcripts of a megabyte of as
// many rows or fields as fit.
func TestLargeTables(t *testing.T) {
	const (
		size            = 1 << 20 // bytes
		subjects, turns = "Participant_ID,PHQ8_Score,Gender\n300,3,1\n", "start_time\tstop_time\tspeaker\n1\t2\tEllie\n3\t4\tParticipant\n"
		folds           = ",,,,,,,'01_CF56_1'\n"
	)
	for name, c := range map[string]struct{ corpus, file, head, unit string }{
		"subjects":             {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, "1,2\n"},
		"one subject":          {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, "300,3\n"},
		"empty lines":          {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, "\n"},
		"columns":              {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, ","},
		"wide rows":            {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, strings.Repeat(",", 1000) + "\n"},
		"quotes":               {"daic-woz", "train_split_Depression_AVEC2017.csv", subjects, "\"\n"},
		"turns":                {"daic-woz", "300_P/300_TRANSCRIPT.csv", turns, "5\t6\tEllie\n7\t8\tParticipant\n"},
		"columns of turns":     {"daic-woz", "300_P/300_TRANSCRIPT.csv", turns, "\t"},
		"folds":                {"androids-interview", "fold-lists.csv", folds, ",,,,,,,1_CF1_1,2_CF1_1,3_CF1_1,4_CF1_1,5_CF1_1\n"},
		"a long row of a fold": {"androids-interview", "fold-lists.csv", folds, "'"},
		"answers":              {"bridge2ai-free", "phenotype/phq9.tsv", phqHead, answered("1", "1", "0", 9)},
		"no number":            {"eatd", "t_1/new_label.txt", "", "a"},
		"a long number":        {"eatd", "t_1/new_label.txt", "", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{
				"train_split_Depression_AVEC2017.csv": &fstest.MapFile{Data: []byte(subjects)},
				"300_P/300_TRANSCRIPT.csv":            &fstest.MapFile{Data: []byte(turns)},
			}
			data := []byte(c.head + strings.Repeat(c.unit, (size-len(c.head))/len(c.unit)))
			root[c.file] = &fstest.MapFile{Data: data}
			wav(root, "300_P/300_AUDIO.wav", "Interview-Task/audio_clip/HC/01_CF56_1/1.wav", "t_1/positive.wav", recording("1", "1", "free-speech-1"))
			if _, err := Open(c.corpus, root, screen.Depression); err != nil && !errors.Is(err, ErrCorpus) {
				t.Errorf("got %v, want ErrCorpus", err)
			}
		})
	}
	// As many rows as there may be, which are read to the end.
	root := fstest.MapFS{}
	var data []byte
	for i := range maxSubjects {
		data = fmt.Appendf(data, ",,,,,,,%[1]d_CF1_1,%[1]d_CF1_2,%[1]d_CF1_3,%[1]d_CF1_4,%[1]d_CF1_5\n", i)
	}
	root["fold-lists.csv"] = &fstest.MapFile{Data: data}
	wav(root, "Interview-Task/audio_clip/HC/1_CF1_1/1.wav")
	if c, err := Open("androids-interview", root, screen.Depression); err != nil || len(c.Skipped) != 5*maxSubjects-1 {
		t.Errorf("got %v", err)
	}
}
