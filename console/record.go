package console

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// recordData is what the page of the recording shows.
type recordData struct {
	MaxBytes int64
	Accept   string // the files that a person can choose
	Products []choice
	Speeches []choice
	Minimum  int      // seconds of speech that a score needs
	From, To int      // seconds of speech that are recommended
	Wrong    string   // the name of a text; "" where nothing is wrong
	Buttons  []string // of the recorder, whose texts are recorder.button.…
	Words    []string // what the script says, whose texts are recorder.…
}

// recorderButtons and recorderWords are what static/record.js shows.
var (
	recorderButtons = []string{"check", "start", "pause", "resume", "stop", "send", "discard"}
	recorderWords   = []string{"idle", "opening", "checking", "recording", "paused", "recorded", "sending", "sent", "seconds", "few", "some", "enough", "listening", "silent", "no-voice",
		"clipped", "quiet", "noisy", "good", "interrupted", "no-microphone", "broken-off", "signed-out", "too-short", "one-file"}
)

// products are what can be asked of a recording, the default first.
var products = []choice{
	{screen.DepressionAnxiety.String(), "product.depression_anxiety"},
	{screen.DeepfakeBinary.String(), "product.deepfake"},
}

// speeches are the ways of speaking, the default first.
var speeches = []choice{{"free", "speech.free"}, {"picture", "speech.picture"}, {"reading", "speech.reading"}, {"", "speech.unknown"}}

// leastSpeech is the seconds of speech that features.Limits asks for by default.
const leastSpeech = 30

// recordPage asks the person to speak, for a session that waits for its recording.
func (v *visit) recordPage() error {
	r, err := v.account.Result(v.ctx(), v.session)
	if err != nil {
		return err
	}
	v.browser.opened(v.session)
	if r.Status != screen.StatusInitiated {
		return v.redirect("sessions/" + v.session + "/thanks")
	}
	return v.askForRecording(http.StatusOK, "")
}

func (v *visit) askForRecording(status int, wrong string) error {
	d := recordData{MaxBytes: v.opts.Upload.MaxBytes, Accept: ".wav,audio/wav", Products: products, Speeches: speeches, Minimum: leastSpeech,
		From: int(screen.RecommendedSpeech[0]), To: int(screen.RecommendedSpeech[1]), Wrong: wrong,
		Buttons: recorderButtons, Words: recorderWords}
	if v.opts.Upload.AnyFormat {
		d.Accept += ",.flac,.mp3,.ogg,.opus,.webm,audio/*"
	}
	return v.page(status, "record", &d)
}

// uploadFields is how many bytes of fields may come before the recording. Chosen:
// several times the form's.
const uploadFields = 16 << 10

// submit takes the recording of a session from a multipart form, whose fields come
// before the file, and streams it to the engine.
func (v *visit) submit() error {
	err := v.submitForm()
	if err == nil {
		return v.redirect("sessions/" + v.session + "/thanks")
	}
	f := shown(err)
	switch f.status { // what the person can correct is said beside the form
	case http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge, http.StatusBadRequest:
		if _, err := v.account.Result(v.ctx(), v.session); err == nil && !v.wantsJSON() {
			v.drain()
			return v.askForRecording(f.status, f.text)
		}
	}
	return err
}

func (v *visit) submitForm() error {
	leave, ok := v.uploads.enter(v.caller.ID, v.opts.Upload.PerCaller)
	if !ok {
		return fault{http.StatusTooManyRequests, "error.busy"}
	}
	defer leave()
	v.timed(v.opts.Upload.StallTime, v.opts.Upload.Time)
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, v.opts.Upload.MaxBytes+uploadFields)
	form, err := v.r.MultipartReader()
	if err != nil {
		return fault{http.StatusBadRequest, "error.form"}
	}
	opts := &voicescreen.SubmitOptions{AnyFormat: v.opts.Upload.AnyFormat}
	for range 8 { // more parts than the form has
		part, err := form.NextPart()
		if err != nil {
			return fault{http.StatusBadRequest, "error.no-file"}
		}
		if part.FormName() == "file" {
			return v.submitFile(part, opts)
		}
		text, err := io.ReadAll(io.LimitReader(part, 256))
		if err != nil {
			return fault{http.StatusBadRequest, "error.upload"}
		}
		if err := setSubmitOption(opts, part.FormName(), string(text)); err != nil {
			return err
		}
	}
	return fault{http.StatusBadRequest, "error.no-file"}
}

// setSubmitOption sets what a field of the form says. Unknown fields are ignored.
func setSubmitOption(opts *voicescreen.SubmitOptions, name, value string) error {
	var err error
	switch {
	case name == "product":
		err = opts.Product.UnmarshalText([]byte(value))
	case name == "speech" && value != "":
		opts.Speech, err = screen.ParseSpeech(value)
	}
	if err != nil {
		return fault{http.StatusUnprocessableEntity, "error.invalid"}
	}
	return nil
}

// submitFile submits a recording. A form without a file has an empty one, without a name.
func (v *visit) submitFile(part *multipart.Part, opts *voicescreen.SubmitOptions) error {
	if part.FileName() == "" {
		return fault{http.StatusBadRequest, "error.no-file"}
	}
	_, err := v.account.Submit(v.ctx(), v.session, part, opts)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return voicescreen.ErrTooLarge
	}
	return err
}

// thanks says that the recording arrived, and what comes next.
func (v *visit) thanks() error {
	r, err := v.account.Result(v.ctx(), v.session)
	if err != nil {
		return err
	}
	if r.Status == screen.StatusInitiated {
		return v.redirect("sessions/" + v.session + "/record")
	}
	return v.page(http.StatusOK, "thanks", struct{ Labelled bool }{r.Product != screen.DeepfakeBinary})
}
