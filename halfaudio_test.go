package voicescreen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// Audio of which the disk lost a part ends its session: in a plain store as a
// recording that cannot be decoded, in an encrypted one, where it is not
// authentic, as an internal error. It gives no score, and does not stay.
func TestHalfOfTheAudio(t *testing.T) {
	for name, c := range map[string]struct {
		key  []byte
		want string
	}{
		"plain":     {nil, screen.CodeAudioDecode},
		"encrypted": {bytes.Repeat([]byte{7}, bolt.KeySize), screen.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			opts := testOptions()
			opts.Store.Key, opts.Workers = c.key, -1
			e := open(t, path, opts)
			id := initiate(t, e, "u")
			submit(t, e, id, speech())
			closeEngine(t, e)
			files, err := filepath.Glob(path + ".audio/*.audio")
			if err != nil || len(files) != 1 {
				t.Fatalf("got audio files %v and error %v, want one", files, err)
			}
			info, err := os.Stat(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(files[0], info.Size()/2); err != nil {
				t.Fatal(err)
			}
			opts.Workers = 1
			e = open(t, path, opts)
			if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != c.want {
				t.Errorf("got %v %+v, want %s", r.Status, r.Failure, c.want)
			}
			eventually(t, "the audio is gone", func() bool { _, err := os.Stat(files[0]); return os.IsNotExist(err) })
		})
	}
}
