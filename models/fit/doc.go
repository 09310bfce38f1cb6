// Package fit makes model files: the priors of the depression and anxiety
// scorers from published effects, and models fitted to labelled recordings.
//
// It reads no audio: whoever calls it decodes the recordings. Everything is
// deterministic, from a seed where chance is needed.
package fit
