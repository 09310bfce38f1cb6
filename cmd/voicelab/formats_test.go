package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A manifest names recordings in any format that is read, and one that is not read is refused
// with the command that converts it.
func TestManifestsNameRecordingsInAnyFormat(t *testing.T) {
	dir, err := filepath.Abs("../../dsp/audiofile/testdata")
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(t.TempDir(), "manifest.csv")
	rows := "path,label\n"
	for i, name := range []string{"mono16.flac", "silk8k.opus", "mono48.mp3", "live.webm"} {
		rows += fmt.Sprintf("%s,%d\n", filepath.Join(dir, name), i%2)
	}
	write(t, manifest, []byte(rows))
	o := ok(t, "evaluate", "--task", "deepfake", "--manifest", manifest)
	if !strings.Contains(o.stdout, "rows      4, 2 of them positive") {
		t.Errorf("got\n%s\nwant figures on 4 rows", o.stdout)
	}
	write(t, manifest, []byte(rows+filepath.Join(dir, "aac.m4a")+",1\n"))
	if o := cli(t, "evaluate", "--task", "deepfake", "--manifest", manifest); o.code == 0 || !strings.Contains(o.stderr, "ffmpeg -i in.m4a") {
		t.Errorf("got %+v, want the command that converts AAC", o)
	}
}
