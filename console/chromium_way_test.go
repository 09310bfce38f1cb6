package console_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/proof/chromium"
	"github.com/voicescreen/voicescreen/models/shipped"
)

// answerAll chooses an answer to each item of a questionnaire and sends it.
func (b *browser) answerAll(path, answer string) {
	b.t.Helper()
	b.open(path)
	b.Check(path[strings.LastIndex(path, "/")+1:])
	chosen := chromium.Value(b.Window, "answers", chromedp.Evaluate[int](fmt.Sprintf(`(() => { const all = document.querySelectorAll('input[type=radio][value=%q]'); all.forEach(i => i.click()); return all.length })()`, answer)))
	if chosen == 0 {
		b.t.Fatalf("%s: no item to answer%s", path, b.Shot("questions"))
	}
	b.Do("send", chromedp.Click(chromedp.CSS("main form button")))
	b.WaitFor("what was answered", fmt.Sprintf(`location.pathname != %q || !document.querySelector("main form")`, path))
}

// submitted opens a session by the form and sends the recording of the tests, without
// the microphone: TestRecordingInTheBrowser does that.
func (b *browser) submitted(user string) (id string) {
	b.t.Helper()
	recording, err := os.CreateTemp(b.t.TempDir(), "*.wav")
	if err != nil {
		b.t.Fatal(err)
	}
	defer recording.Close()
	if _, err := recording.Write(mustRead(b.t, "../testdata/interview_en.wav")); err != nil {
		b.t.Fatal(err)
	}
	id = b.consent(user)
	b.Do("choose a file", chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{recording.Name()}), chromedp.Click(chromedp.CSS("#upload button")))
	b.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
	return id
}

// TestWayFromConsentToHistory goes the whole way of a clinic, at the size of a phone and
// of a desk, and has axe-core look at each page.
func TestWayFromConsentToHistory(t *testing.T) {
	for name, size := range chromium.Sizes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scorers, err := shipped.Scorers()
			if err != nil {
				t.Fatal(err)
			}
			b := newBrowser(t, size, scorers...)
			b.open("/console/")
			b.Check("sign-in")
			b.signIn(b.s.key)
			b.Check("home")
			id := b.submitted("patient-17")
			page := "/console/sessions/" + id
			b.open(page)
			b.WaitFor("the result", `!document.getElementById("waiting") && document.readyState == "complete"`)
			b.answerAll(page+"/phq-9", "1")
			b.Check("answered")
			b.answerAll(page+"/gad-7", "1")
			b.open(page + "/interview")
			b.Check("interview")
			for _, p := range []struct{ name, path, says string }{
				{"result", page, "PHQ-9: 9 of 27"},
				{"history", page + "/history", "PHQ-9"},
				{"people", "/console/people", ""},
				{"agreement", "/console/agreement", ""},
				{"operations", "/console/operations", ""},
				{"keys", "/console/operations/keys", ""},
				{"erase", page + "/erase", ""},
			} {
				b.open(p.path)
				if got := b.Text("main"); !strings.Contains(got, p.says) {
					t.Errorf("%s lacks %q: %s%s", p.name, p.says, got, b.Shot(p.name))
				}
				b.Check(p.name)
				if p.name == "result" {
					if n := b.Sheets(); n != 1 {
						t.Errorf("the result takes %d sheets in print, want 1", n)
					}
				}
				if wide := b.Overflow(); wide > 0 {
					t.Errorf("%s is %d pixels wider than the window%s", p.name, wide, b.Shot(p.name))
				}
			}
		})
	}
}

// TestSignedOutIsOut signs out, goes back, and finds nothing of a person; another
// account finds nothing at the address.
func TestSignedOutIsOut(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.signIn(b.s.key)
	id := b.submitted("patient-17")
	page := "/console/sessions/" + id
	b.open(page)
	b.WaitFor("the result", `!document.getElementById("waiting") && document.readyState == "complete"`)
	secret := b.Text("main")
	b.Do("sign out", chromedp.Click(chromedp.CSS("header form button")))
	b.WaitFor("the page to sign in", `document.querySelector("input[name=key]") != null`)
	b.Do("back", chromedp.NavigateBack())
	b.WaitFor("the page before", `document.readyState == "complete" && document.querySelector("main") != null`)
	if got := b.Text("main"); got == secret || strings.Contains(got, "PHQ") || !strings.Contains(got, "API key") {
		t.Errorf("the back button shows %q after sign-out, want the page to sign in%s", got, b.Shot("back"))
	}
	b.signIn(b.s.newKey("another-clinic", httpadapter.ScopeRead, httpadapter.ScopeSubmit))
	for _, path := range []string{"", "/record", "/history", "/thanks"} {
		b.open(page + path)
		if got := b.Text("main"); !strings.Contains(got, "no such page or session") {
			t.Errorf("another account reads %q at %s, want that there is no such session%s", got, path, b.Shot("other"))
		}
	}
	b.Check("error")
}
