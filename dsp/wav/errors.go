package wav

import (
	"errors"
	"fmt"
)

// A FormatError says what is wrong with a file that is broken or is no WAV
// file at all.
type FormatError string

func (e FormatError) Error() string { return "wav: invalid file: " + string(e) }

// An UnsupportedError names what a file uses that this package does not read,
// though the file may be in order.
type UnsupportedError string

func (e UnsupportedError) Error() string { return "wav: unsupported: " + string(e) }

// A ChannelError says that the channel asked for is not in the recording, or
// that a recording with several channels came without saying which one.
type ChannelError struct {
	Channels int // in the recording
	Channel  int // asked for, from 1 on; 0 if none was
}

func (e *ChannelError) Error() string {
	if e.Channel == 0 {
		return fmt.Sprintf("wav: recording has %d channels, want one or to be told which", e.Channels)
	}
	return fmt.Sprintf("wav: channel %d of a recording with %d", e.Channel, e.Channels)
}

// ErrTooLong is returned by [Decode] for a recording of more samples than
// DecodeOptions.MaxSamples.
var ErrTooLong = errors.New("wav: recording is longer than allowed")
