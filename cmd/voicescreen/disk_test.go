//go:build linux

package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// smallDisk is a file system of a few megabytes that nobody sees but this
// thread and the processes that it starts, and that is gone when they are,
// however they end. Where it may not be mounted, "full" is that the server may
// not make files longer, and there is no "read-only".
type smallDisk struct {
	t       *testing.T
	dir     string
	mounted bool
}

// diskSize is the size of the file system. Chosen: a database and some
// recordings of 300 KB, and quick to fill.
const diskSize = "4m"

// newSmallDisk binds the goroutine of the test, its last, to its thread.
func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{t: t, dir: t.TempDir()}
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil { // what is mounted here is seen nowhere else
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("voicescreen", d.dir, "tmpfs", 0, "size="+diskSize)
	}
	if err != nil {
		t.Logf("no file system can be mounted (%v): the server's files may not grow instead", err)
		return d
	}
	d.mounted = true
	t.Cleanup(func() {
		if err := unix.Unmount(d.dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return d
}

func (d *smallDisk) file(name string) string { return filepath.Join(d.dir, name) }

// fill leaves no byte to the server.
func (d *smallDisk) fill(s *server) {
	d.t.Helper()
	if !d.mounted {
		d.limit(s, 0)
		return
	}
	f, err := os.Create(d.file("fill"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Fatalf("got %v, want a disk that is full", err)
	}
}

// free takes back fill.
func (d *smallDisk) free(s *server) {
	d.t.Helper()
	if !d.mounted {
		d.limit(s, unix.RLIM_INFINITY)
	} else if err := os.Remove(d.file("fill")); err != nil {
		d.t.Fatal(err)
	}
}

// limit says how long files of the server may get in bytes.
func (d *smallDisk) limit(s *server, bytes uint64) {
	d.t.Helper()
	err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil)
	if err != nil {
		d.t.Skipf("neither can a file system be mounted nor the size of files be limited: %v", err)
	}
}

// bind makes a directory a mount of its own, which then may be remounted.
func (d *smallDisk) bind(name string) {
	d.t.Helper()
	if err := unix.Mount(d.file(name), d.file(name), "", unix.MS_BIND, ""); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = unix.Unmount(d.file(name), unix.MNT_DETACH) })
}

func (d *smallDisk) remount(name string, flags uintptr) {
	d.t.Helper()
	if err := unix.Mount("", d.file(name), "", unix.MS_REMOUNT|flags, ""); err != nil {
		d.t.Fatal(err)
	}
}

// diskVisitor is a client of a server whose disk fails.
type diskVisitor struct {
	*visitor
	t *testing.T
	s *server
}

// status makes a call.
func (v *diskVisitor) status(method, path, contentType, body string) (int, object) {
	v.t.Helper()
	status, o, err := v.call(v.t.Context(), method, path, contentType, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	return status, o
}

// start begins a session.
func (v *diskVisitor) start() string {
	v.t.Helper()
	return v.s.initiate("/initiate", v.key, form, "is_initiated=true&user_id=patient-1")
}

// upload submits a recording.
func (v *diskVisitor) upload(id string) (status int) {
	v.t.Helper()
	body, contentType := v.visitor.upload(&visit{id: id})
	status, _ = v.status("POST", "/predict", contentType, body.String())
	return status
}

// labelled submits a recording to a product that takes labels, and returns its
// session. The recording is too short for a score.
func (v *diskVisitor) labelled() string {
	v.t.Helper()
	id := v.start()
	body, contentType := v.visitor.upload(&visit{id: id})
	if status, _ := v.status("POST", "/predict/depression/binary", contentType, body.String()); status != http.StatusAccepted {
		v.t.Fatalf("an upload: got %d, want 202", status)
	}
	v.s.result("/v2/predict/sessions/"+id, v.key, http.StatusExpectationFailed)
	return id
}

// feedback gives a label.
func (v *diskVisitor) feedback(id string) (status int) {
	v.t.Helper()
	status, _ = v.status("PATCH", "/v2/feedback/depression/binary", js, `{"session_id":"`+id+`","actual_score":"true"}`)
	return status
}

// ready wants a status of /readyz.
func (v *diskVisitor) ready(want int) {
	v.t.Helper()
	if got, _ := v.status("GET", "/readyz", "", ""); got != want {
		v.t.Errorf("/readyz: got %d, want %d", got, want)
	}
}

// scored wants the result of a session, as it was where that is known.
func (v *diskVisitor) scored(id string, before object) object {
	v.t.Helper()
	o := v.s.result("/v2/predict/sessions/"+id, v.key, http.StatusOK)
	o.want(v.t, "status", "success")
	if before != nil {
		o.want(v.t, "predicted_deepfake_score", before["predicted_deepfake_score"])
	}
	return o
}

// maxStarts is how many sessions are begun at most until the database has used
// up its free pages. Chosen: several megabytes.
const maxStarts = 5000

// TestServeOnADiskThatFailsAndComesBack fills a real file system under a real
// server, makes it read-only, and takes both back.
func TestServeOnADiskThatFailsAndComesBack(t *testing.T) {
	dir := t.TempDir()
	d := newSmallDisk(t)
	keys := filepath.Join(dir, "keys.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keys, "--account", "clinic", "--scopes", "initiate,submit,read,feedback").stdout)
	args := []string{"--db", d.file("clinic.db"), "--keys", keys}
	s := startServer(t, args...)
	v := &diskVisitor{&visitor{key: key, base: s.base, recordings: [][]byte{clip(read(t, short), 3.5)}, http: &http.Client{Transport: &http.Transport{}}}, t, s}
	defer v.http.CloseIdleConnections()

	first, second, third := v.start(), v.start(), v.start()
	if got := v.upload(first); got != http.StatusAccepted {
		t.Fatalf("an upload: got %d, want 202", got)
	}
	result := v.scored(first, nil)
	v.fullDisk(d, first, second, v.labelled(), result)
	if d.mounted {
		v.readOnlyAudio(d, first, third, result)
	}
	s.stop()
	if _, err := bolt.Check(t.Context(), d.file("clinic.db"), nil, func(fault string) error { t.Error(fault); return nil }); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(d.file("clinic.db.audio")); len(left) > 0 || err != nil {
		t.Errorf("got %d audio files and error %v, want none", len(left), err)
	}
	if !d.mounted {
		t.Log("read-only disks are left out")
		return
	}
	d.remount("", unix.MS_RDONLY)
	if o := program(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...); o.code != command.ExitError || !strings.Contains(o.stderr, "read-only file system") {
		t.Errorf("a start on a read-only disk: got %+v, want an error that says so", o)
	}
	d.remount("", 0)
	s = startServer(t, args...)
	v.s, v.base = s, s.base
	v.scored(first, result)
	v.scored(second, nil)
	s.stop()
}

// fullDisk fills the disk and frees it again.
func (v *diskVisitor) fullDisk(d *smallDisk, done, waits, labelled string, result object) {
	v.t.Helper()
	d.fill(v.s)
	var begun []string
	for len(begun) < maxStarts { // the database may have room within itself
		status, o := v.status("POST", "/initiate", form, "is_initiated=true&user_id=patient-2")
		if status == http.StatusServiceUnavailable {
			break
		}
		id, _ := o["session_id"].(string)
		if begun = append(begun, id); status != http.StatusCreated {
			v.t.Fatalf("initiate: got %d, want 201 or 503", status)
		}
	}
	if got := v.upload(waits); got != http.StatusServiceUnavailable {
		v.t.Errorf("an upload to a full disk: got %d, want 503", got)
	}
	// A label takes fewer pages of the database than a session, and may find them free.
	if got := v.feedback(labelled); got != http.StatusOK && got != http.StatusServiceUnavailable {
		v.t.Errorf("feedback on a full disk: got %d, want 200 or 503", got)
	}
	v.scored(done, result)
	v.ready(http.StatusServiceUnavailable)
	d.free(v.s)
	v.ready(http.StatusOK)
	if got := v.upload(waits); got != http.StatusAccepted {
		v.t.Errorf("the upload on a disk that has room again: got %d, want 202", got)
	}
	if got := v.feedback(labelled); got != http.StatusOK {
		v.t.Errorf("the feedback on a disk that has room again: got %d, want 200", got)
	}
	v.scored(waits, nil)
	for _, id := range begun {
		if got, _ := v.status("GET", "/predict/sessions/"+id, "", ""); got != http.StatusExpectationFailed { // it was not submitted
			v.t.Fatalf("session %s of %d that were begun on a full disk: got %d, want 417", id, len(begun), got)
		}
	}
	v.t.Logf("the database took %d sessions more", len(begun))
}

// readOnlyAudio makes the directory of recordings read-only and takes that back.
// The database itself cannot be: Linux remounts nothing where files are open for
// writing. Its calls fail in the tests of store/bolt.
func (v *diskVisitor) readOnlyAudio(d *smallDisk, done, waits string, result object) {
	v.t.Helper()
	d.bind("clinic.db.audio")
	d.remount("clinic.db.audio", unix.MS_BIND|unix.MS_RDONLY)
	if got := v.upload(waits); got < 500 {
		v.t.Errorf("an upload to a read-only disk: got %d, want 5xx", got)
	}
	v.scored(done, result)
	v.ready(http.StatusServiceUnavailable)
	d.remount("clinic.db.audio", unix.MS_BIND)
	v.ready(http.StatusOK)
	if got := v.upload(waits); got != http.StatusAccepted {
		v.t.Errorf("the upload on a disk that can be written again: got %d, want 202", got)
	}
	v.scored(waits, nil)
}
