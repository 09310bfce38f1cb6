package s3_test

import (
	"context"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

func TestAudioComesBackUntilItIsRemoved(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	b, again := open(t, bucket+"/a/b", server.Addr, nil), open(t, bucket+"/a/b/", server.Addr, nil)
	if err := b.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	for _, data := range [][]byte{{}, noise(1), noise(64 << 10), noise(5<<20 - 1), noise(5 << 20), noise(5<<20 + 1), noise(10 << 20), long} {
		ref := put(t, b, data)
		if !audio.IsRef(ref) {
			t.Errorf("got reference %q, want the form of a directory's", ref)
		}
		wantAudio(t, again, ref, data)
		if names := files(t, server, bucket); len(names) != 1 || names[0] != "a/b/"+ref+".audio" {
			t.Errorf("%d bytes: got objects %q, want only the recording", len(data), names)
		}
		for range 2 {
			wantErr(t, "Remove", b.Remove(t.Context(), ref), nil)
		}
		_, err := read(t.Context(), again, ref)
		wantErr(t, "Open of removed audio", err, store.ErrNotFound)
	}
	if names := files(t, server, bucket); len(names) != 0 {
		t.Errorf("got objects %q, want none", names)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	ref := strings.Repeat("A", 26)
	_, err := b.Put(done, strings.NewReader("audio"))
	wantErr(t, "Put", err, context.Canceled)
	_, err = b.Open(done, ref)
	wantErr(t, "Open", err, context.Canceled)
	wantErr(t, "Remove", b.Remove(done, ref), context.Canceled)
	wantErr(t, "Sweep", b.Sweep(done, 0, nil), context.Canceled)
	wantErr(t, "Ping", b.Ping(done), context.Canceled)
}
