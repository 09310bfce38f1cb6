package main

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

// limitFlags are the flags of "serve" for what is too much. The zero value of
// each means the default of the library.
type limitFlags struct {
	upload     int // MiB
	uploadTime time.Duration
	stallTime  time.Duration
	uploads    int
	queue      int
	accept     string // "wav" or "any"
	wait       time.Duration
}

func (l *limitFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&l.upload, "max-upload", 0, "the size of the largest recording in MiB, larger ones are answered 413 (default 100)")
	command.DurationVar(cmd, &l.uploadTime, "upload-time", "how long a whole upload may take (default 10m)")
	command.DurationVar(cmd, &l.stallTime, "stall-time", "how long nothing may come of an upload (default 30s)")
	f.IntVar(&l.uploads, "uploads-per-key", 0, "how many uploads of one key may be on their way, more are answered 429 (default 800)")
	f.IntVar(&l.queue, "queue", 0, "how many recordings may wait to be analysed, more are answered 503 (default 1000)")
	f.StringVar(&l.accept, "accept", acceptWAV, "the formats of recordings that are accepted: wav, or any, which adds FLAC, MP3, Opus in Ogg and WebM, and A-law, µ-law and IMA ADPCM")
	command.Values(cmd, "accept", acceptWAV, acceptAny)
	command.DurationVar(cmd, &l.wait, "max-wait", "how long the answer to \"Prefer: wait=N\" may be held, not at all below 1s (default 30s)")
}

// The values of --accept.
const (
	acceptWAV = "wav"
	acceptAny = "any"
)

// maxUploadMiB is what a WAV file can hold: it says its size in 32 bits.
const maxUploadMiB = 4096

func (l *limitFlags) check() error {
	for _, f := range []struct {
		name     string
		negative bool
	}{
		{"max-upload", l.upload < 0}, {"upload-time", l.uploadTime < 0}, {"stall-time", l.stallTime < 0},
		{"uploads-per-key", l.uploads < 0}, {"queue", l.queue < 0}, {"max-wait", l.wait < 0},
	} {
		if f.negative {
			return command.Usagef("--%s cannot be less than 0", f.name)
		}
	}
	if l.accept != acceptWAV && l.accept != acceptAny {
		return command.Usagef("--accept is %q, want %s or %s", l.accept, acceptWAV, acceptAny)
	}
	if l.upload > maxUploadMiB {
		return command.Usagef("--max-upload is %d, want at most %d MiB", l.upload, maxUploadMiB)
	}
	return nil
}

// engine sets the limits of an engine's options, and returns these.
func (l *limitFlags) engine(o *voicescreen.Options) *voicescreen.Options {
	o.Queue.Limit = l.queue
	o.Audio.MaxBytes = int64(l.upload) << 20
	return o
}

// handler sets the limits of a handler's options, and returns these.
func (l *limitFlags) handler(o *httpadapter.Options) *httpadapter.Options {
	o.MaxUpload = int64(l.upload) << 20
	o.MaxWait = l.wait
	o.Limits.UploadTime = l.uploadTime
	o.Limits.StallTime = l.stallTime
	o.Limits.Uploads = l.uploads
	o.Limits.AnyFormat = l.accept == acceptAny
	return o
}

// server gives a server's answers the time that the limits add.
func (l *limitFlags) server(s *http.Server) *http.Server {
	s.WriteTimeout += l.uploadTime + l.wait
	return s
}
