package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/voicescreen/voicescreen/internal/proof/chromium"
)

// press presses keys.
func (b *browser) press(keys string) {
	b.t.Helper()
	b.Do("press a key", chromedp.KeyEvent(keys))
}

// tabTo presses the tabulator until an element of a selector has the focus, and wants
// the focus to be seen.
func (b *browser) tabTo(selector string) {
	b.t.Helper()
	for range 80 {
		if chromium.Value(b.Window, "focus", chromedp.Evaluate[bool](fmt.Sprintf("document.activeElement.matches(%q)", selector))) {
			if style := chromium.Value(b.Window, "outline", chromedp.Evaluate[string]("getComputedStyle(document.activeElement).outlineStyle")); style == "none" {
				b.t.Errorf("the focus on %s is not seen", selector)
			}
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("the tabulator does not reach %s on %s%s", selector, b.Path(), b.Shot("keyboard"))
}

// TestKeyboard goes from the sign-in to a questionnaire with the keyboard only.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.open("/console/")
	b.tabTo("input[name=key]")
	b.press(b.s.key + kb.Enter)
	b.WaitFor("the first page", `location.pathname == "/console/" && document.readyState == "complete"`)
	b.tabTo(`a[href="/console/new"]`)
	b.press(kb.Enter)
	b.WaitFor("the consent", `location.pathname == "/console/new" && document.readyState == "complete"`)
	b.tabTo("input[name=user]")
	b.press("patient-17")
	b.tabTo("input[name=consent]")
	b.press(" ")
	b.tabTo("main form button")
	b.press(kb.Enter)
	b.WaitFor("the page of the recording", `location.pathname.endsWith("/record") && document.readyState == "complete"`)
	b.tabTo("#check")
	b.press(kb.Enter)
	for _, button := range []string{"#start", "#pause", "#resume"} { // the focus goes on by itself
		b.WaitFor("the focus on "+button, fmt.Sprintf("document.activeElement.matches(%q)", button))
		b.press(kb.Enter)
		b.Do("speak", chromedp.Sleep(time.Second))
	}
	b.isHeard()
	b.tabTo("#stop")
	b.press(kb.Enter)
	b.WaitFor("the focus on #send", `document.activeElement.matches("#send") && document.getElementById("playback").src != ""`)
	b.press(kb.Enter)
	b.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
	b.tabTo(`a[href$="/phq-2"]`)
	b.press(kb.Enter)
	b.WaitFor("the questionnaire", `location.pathname.endsWith("/phq-2") && document.readyState == "complete"`)
	for _, item := range []string{"item-1", "item-2"} {
		b.tabTo(fmt.Sprintf("input[name=%q]", item))
		b.press(" " + kb.ArrowDown)
	}
	b.tabTo("main form button")
	b.press(kb.Enter)
	b.WaitFor("the total", `document.querySelector("main").textContent.includes("PHQ-2: 2 of 6")`)
}

// TestMicrophoneIsOpenedOnce presses the button again while the browser still opens the
// microphone: two of them would be mixed into one recording.
func TestMicrophoneIsOpenedOnce(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.signIn(b.s.key)
	b.consent("patient-17")
	chromium.Value(b.Window, "press twice", chromedp.Evaluate[bool](`(() => {
		const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
		window.opened = 0;
		navigator.mediaDevices.getUserMedia = (wish) => { window.opened++; return open(wish); };
		const button = document.getElementById("check");
		button.click();
		button.click();
		return true;
	})()`))
	b.Do("the microphone is open", chromedp.WaitVisible(chromedp.CSS("#start")))
	if n := chromium.Value(b.Window, "times", chromedp.Evaluate[int]("window.opened")); n != 1 {
		t.Errorf("the microphone was opened %d times, want once", n)
	}
}
