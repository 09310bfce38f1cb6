//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// metricName is a metric of voicescreen in an expression of Prometheus.
var metricName = regexp.MustCompile(`\bvoicescreen_[a-z_]+`)

// watchedMetrics returns the metrics that the alerts, the dashboard and the other files
// of deploy name, and where.
func watchedMetrics(t *testing.T) map[string]string {
	t.Helper()
	watched := map[string]string{}
	for _, pattern := range []string{"prometheus/*.yaml", "grafana/*.json", "kubernetes/*.yaml"} {
		files, err := filepath.Glob("../../deploy/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range metricName.FindAllString(string(read(t, file)), -1) {
				watched[name] = file
			}
		}
	}
	return watched
}

// Each metric that the files of deploy name is one that a running service serves.
func TestWatchedMetricsAreServed(t *testing.T) {
	watched := watchedMetrics(t)
	if len(watched) < 12 {
		t.Errorf("got %d metrics in the files, want at least 12: the pattern does not match any more", len(watched))
	}
	dir := t.TempDir()
	backups := filepath.Join(dir, "backups")
	if err := os.Mkdir(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	keyFile, hooks := filepath.Join(dir, "keys.json"), filepath.Join(dir, "webhooks.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	ok(t, "webhooks", "set", "--webhooks", hooks, "--account", "clinic-a", "--url", "https://localhost/", "--webhook-allow-private", "127.0.0.0/8")
	s := startServer(t, "--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile, "--webhooks", hooks,
		"--metrics-addr", "127.0.0.1:0", "--backup", backups, "--backup-every", "1s", "--calibrate", "1s")
	line, err := s.first.ReadString('\n')
	base, found := strings.CutPrefix(strings.TrimSpace(line), "metrics on ")
	if err != nil || !found {
		t.Fatalf("got %q %v, want the address of the metrics", line, err)
	}
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-24","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.result("/predict/sessions/"+id, key, http.StatusOK)
	var missing []string
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		served := metricName.FindAllString(string(getMetrics(t, base)), -1)
		missing = nil
		for name, file := range watched {
			if !slices.Contains(served, name) {
				missing = append(missing, name+" of "+file)
			}
		}
		if len(missing) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, m := range missing {
		t.Errorf("%s is not served", m)
	}
	s.stop()
}

// Each alert has a test of promtool in which it fires, and a section that says what to do.
func TestAlertsAreTestedAndExplained(t *testing.T) {
	tests := string(read(t, "../../deploy/prometheus/alerts_test.yaml"))
	pages := string(read(t, "../../docs/OPERATIONS.md"))
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(string(read(t, "../../deploy/prometheus/alerts.yaml")), -1) {
		names = append(names, m[1])
		if !strings.Contains(tests, "name: "+m[1]+" fires\n") || !strings.Contains(tests, "name: "+m[1]+" is silent\n") {
			t.Errorf("%s has no test in which it fires, or none in which it is silent", m[1])
		}
		if !strings.Contains(pages, "\n### "+m[1]+"\n") {
			t.Errorf("docs/OPERATIONS.md has no section %s", m[1])
		}
	}
	if len(names) < 10 {
		t.Errorf("got alerts %v, want at least 10: the pattern does not match any more", names)
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Voicescreen\w+)$`).FindAllStringSubmatch(pages, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/OPERATIONS.md describes %s, which is no alert", m[1])
		}
	}
}

// The parts of a dashboard that the test reads.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr string }
	}
}

// Grafana gives no error for panels that overlap or share a number; it moves or loses them.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal(read(t, "../../deploy/grafana/voicescreen.json"), &d); err != nil {
		t.Fatal(err)
	}
	cells, ids := map[[2]int]string{}, map[int]string{}
	for _, p := range d.Panels {
		if other, there := ids[p.ID]; there {
			t.Errorf("%s and %s have the same number", p.Title, other)
		}
		ids[p.ID] = p.Title
		if len(p.Targets) == 0 || p.Title == "" {
			t.Errorf("panel %d shows nothing, or has no title", p.ID)
		}
		for _, target := range p.Targets {
			if !metricName.MatchString(target.Expr) {
				t.Errorf("%s: %s names no metric of voicescreen", p.Title, target.Expr)
			}
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, there := cells[[2]int{x, y}]; there || x >= 24 {
					t.Errorf("%s overlaps %s or the edge", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
	if len(d.Panels) < 10 {
		t.Errorf("got %d panels, want at least 10", len(d.Panels))
	}
}
