package chromium

import (
	"encoding/json"
	"os"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// Check takes a picture of the page, and has axe-core look for faults of accessibility
// (all of its rules, which hold those of WCAG 2.2 A and AA) in light and dark. Each one
// fails the test. The race detector sees Go only: under it, Check does nothing.
func (w *Window) Check(name string) {
	w.t.Helper()
	if cost.Race {
		return
	}
	file := os.Getenv("AXE")
	if file == "" {
		w.t.Skip("needs axe-core: the file axe.min.js of the npm package axe-core, in the environment variable AXE")
	}
	source, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	Value(w, "axe", chromedp.Evaluate[int](string(source)+"; 0"))
	for _, scheme := range []string{"dark", "light"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(w.Context, emulation.SetEmulatedMedia, media); err != nil {
			w.t.Fatal(err)
		}
		found := Value(w, "axe", chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
		var violations []struct {
			ID, Help string
			Nodes    []string
		}
		if err := json.Unmarshal([]byte(found), &violations); err != nil {
			w.t.Fatal(err)
		}
		for _, v := range violations {
			w.t.Errorf("%s in %s: %s: %s %q%s", name, scheme, v.ID, v.Help, v.Nodes, w.Shot(name))
		}
	}
	w.Shot(name)
}
