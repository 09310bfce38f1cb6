package wav

import (
	"errors"
	"fmt"
)

// A FormatError describes the defect of a broken file, or of a file that is not a
// WAV file.
type FormatError string

func (e FormatError) Error() string { return "wav: invalid file: " + string(e) }

// An UnsupportedError names the property of a file that this package does not read.
// The file may be valid. Where the file holds sound in a common format, the error
// names the command that converts it.
type UnsupportedError string

func (e UnsupportedError) Error() string { return "wav: unsupported: " + string(e) }

// A ChannelError is returned if the recording does not have the requested channel,
// or if it has several channels and none was requested.
type ChannelError struct {
	Channels int // number of channels of the recording
	Channel  int // requested channel, from 1 on; 0 without a request
}

func (e *ChannelError) Error() string {
	if e.Channel == 0 {
		return fmt.Sprintf("wav: recording has %d channels, want one, or the number of the one to use", e.Channels)
	}
	return fmt.Sprintf("wav: no channel %d in a recording with %d", e.Channel, e.Channels)
}

// ErrTooLong is returned by [Decode] for a recording of more samples than
// DecodeOptions.MaxSamples.
var ErrTooLong = errors.New("wav: recording is longer than allowed")
