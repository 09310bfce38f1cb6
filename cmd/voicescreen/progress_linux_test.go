package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/voicescreen/voicescreen/internal/command"
)

// On a terminal the progress of a folder is shown, and no output has it in between.
func TestProgressOfFolders(t *testing.T) {
	dir := recordingsDir(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		b, _ := io.ReadAll(master) // ends with EIO once the terminal is closed
		shown <- string(b)
	}()
	var stdout bytes.Buffer
	code := command.Run(t.Context(), newRoot(), []string{"features", "--csv", dir}, strings.NewReader(""), &stdout, terminal)
	terminal.Close()
	got := <-shown
	if code != command.ExitError || !strings.Contains(got, "measuring") || !strings.Contains(got, "/5)") {
		t.Errorf("got code %d and %q, want a bar of 5 files", code, got)
	}
	if at := strings.Index(got, "failed: 1 of 5 files"); at < strings.LastIndex(got, "/5)") {
		t.Errorf("got %q, want what failed behind the bar", got)
	}
	if rows := parseCSV(t, stdout.String()); len(rows) != 6 {
		t.Errorf("got %d rows, want a header and 5", len(rows))
	}
}
