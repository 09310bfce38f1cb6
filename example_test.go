package voicescreen_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// The whole flow is four calls.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "voicescreen")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	e, err := voicescreen.Open(filepath.Join(dir, "clinic.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	id, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "patient-17", Consent: true})
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("testdata/interview_en.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	ack, err := e.Submit(ctx, id, file, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("submitted:", ack.Status)
	r, err := e.Wait(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("finished:", r.Status)
	for _, s := range r.Scores {
		fmt.Printf("%v: a score within 0 and 1: %v\n", s.Category, s.Probability >= 0 && s.Probability <= 1)
	}
	// Output:
	// submitted: processing
	// finished: success
	// depression: a score within 0 and 1: true
	// anxiety: a score within 0 and 1: true
}

// Without a session and a store: one file, every score that it is good for.
func ExampleEngine_Analyze() {
	ctx := context.Background()
	e, err := voicescreen.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	file, err := os.Open("testdata/short_en.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	a, err := e.Analyze(ctx, file, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range a.Scores {
		fmt.Printf("%v: scored\n", s.Category)
	}
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		fmt.Printf("%v: %s\n", c, a.Failures[c].Message)
	}
	// Output:
	// deepfake: scored
	// depression: Audio file is less than the minimum audio length of 30.0 seconds
	// anxiety: Audio file is less than the minimum audio length of 30.0 seconds
}

// A recording page or a telephone bridge writes samples as they come and shows what is
// missing.
func ExampleEngine_Live() {
	ctx := context.Background()
	e, err := voicescreen.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	file, err := os.Open("testdata/voice_16k_en.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	microphone, err := features.ReadChannel(ctx, file, 1, 0)
	if err != nil {
		log.Fatal(err)
	}

	live, err := e.Live(voicescreen.LiveOptions{SampleRate: microphone.Rate})
	if err != nil {
		log.Fatal(err)
	}
	for block := range slices.Chunk(microphone.Samples, microphone.Rate/50) {
		if err := live.Write(block); err != nil {
			log.Fatal(err)
		}
		if s := live.Status(); s.Duration == 3 {
			fmt.Printf("%.0f more seconds of speech\n", s.Missing[screen.Depression])
		}
	}
	a, err := live.Finish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f of %.0f s are speech\n", a.SpeechSeconds, a.Duration)
	// Output:
	// 28 more seconds of speech
	// 5 of 8 s are speech
}

// Two tenants share an engine and nothing else.
func ExampleEngine_Tenant() {
	ctx := context.Background()
	e, err := voicescreen.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	id, err := e.Tenant("north clinic").Initiate(ctx, voicescreen.InitiateRequest{UserID: "patient-17", Consent: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = e.Tenant("south clinic").Result(ctx, id)
	fmt.Println(errors.Is(err, voicescreen.ErrNotFound))
	// Output: true
}

// A label that a clinician gives within a day of the recording.
func ExampleAccount_Feedback() {
	ctx := context.Background()
	e, err := voicescreen.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	err = e.Feedback(ctx, "session", voicescreen.Feedback{PHQ9: []int{0, 1, 7, 0, 0, 0, 0, 0, 0}})
	fmt.Println(err)
	// Output: voicescreen: invalid argument: phq_9 item 3 is 7, want 0 to 3
}

// half is a model of one's own: it plugs in where the shipped ones are.
type half struct{}

func (half) Info() models.Info {
	return models.Info{Name: "half", Version: "1", Categories: []screen.Category{screen.Deepfake}}
}

func (half) Score(_ context.Context, in *features.Recording) ([]screen.Score, error) {
	return []screen.Score{{
		Category: screen.Deepfake, Model: "half", Version: "1",
		Probability: 0.5, Low: 0, High: 1, Decision: screen.Indeterminate, Coverage: 1,
	}}, nil
}

// A scorer of one's own replaces the shipped one of its category.
func ExampleOptions_models() {
	ctx := context.Background()
	e, err := voicescreen.New(memory.New(nil), &voicescreen.Options{Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{half{}}}})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)
	file, err := os.Open("testdata/short_en.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	a, err := e.Analyze(ctx, file, nil)
	if err != nil {
		log.Fatal(err)
	}
	s := a.Scores[0] // the recording is too short for the others
	fmt.Println(s.Category, s.Model, s.Decision)
	// Output: deepfake half indeterminate
}
