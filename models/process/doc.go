// Package process scores recordings with a program of the user's: any model, in any
// language. The program is kept alive, gets samples and metadata on its standard input,
// and answers scores on its standard output. docs/SCORERS.md has an example in Python.
//
// # Protocol
//
// Both directions carry frames: a length, 4 bytes, unsigned, little-endian, then as many
// bytes. After its start the program sends one frame, a JSON object that describes it:
//
//	{"protocol": "voicescreen-scorer/1", "name": "my-detector", "version": "3",
//	 "categories": ["deepfake"]}
//
// Further members, all optional, are those of [models.Info]: calibrated, calibrated_on,
// licence, non_commercial, source, sha256. Then, until its input ends, the program reads
// two frames for each recording and answers one. The first frame is a JSON object:
//
//	{"id": 1, "sample_rate": 16000, "samples": 480000, "categories": ["deepfake"],
//	 "metadata": {"age": 40, "gender": "Female"}, "speech": "free",
//	 "speech_intervals": [[0.31, 4.2], [5.0, 29.8]], "lossy": true}
//
// metadata has the members of [screen.Metadata] that are known. speech, the way of
// speaking, and lossy stand there where they are known and true. speech_intervals are in
// seconds. The second frame holds the samples: mono, 32-bit floating point,
// little-endian, nominally −1 to 1. The answer is a JSON object of at most 1 MiB with the
// same id and one score for each category, in the order in which the program named them:
//
//	{"id": 1, "scores": [{"category": "deepfake", "probability": 0.93}]}
//
// probability and category are required. These members are optional: low and high, the
// bounds of the 90 % interval; coverage, 0 to 1, 1 if it is missing; prior, the share of
// positive recordings that the probability assumes; band, {"low": …, "high": …}, between
// which the decision is open; severity; cautions; segments and contributions, in the form
// of [screen.Score]. Unknown members are refused. The engine derives the decision, and
// adds the cautions of the recording. A program that cannot score a recording answers
// {"id": 1, "error": "why"} instead.
//
// Nothing else may be written to standard output. Standard error is free: its last 4 KiB
// are kept.
//
// # Faults
//
// Each fault is an [Error], which names the command. A program that does not answer in
// time ([ErrTimeout]), ends ([ErrExit]), writes too much ([ErrFlood]) or breaks the
// protocol ([ErrProtocol]) is killed, and started again for the next recording: at once
// after one fault, and after pauses that double from Options.Backoff up to 32 times that
// after several in a row. A program that answers scores that cannot be right
// ([ErrAnswer]) or reports an error ([ErrReported]) stays. The engine tries the session
// again, and fails it with internal_error after its last attempt.
//
// # Isolation
//
// The program gets the environment that Options.Env lists and nothing else, a new empty
// working directory, no open files but its three standard streams, and a process group of
// its own, which is killed as a whole (Unix). On Linux the kernel kills the program, but
// not its children, when this process dies, and no core dump of it is written. The number
// of programs, the time and the size of what they write are bounded.
//
// The following is not restricted: the program runs as the same user, reads and writes the
// files that this user may, uses the network, and takes as much memory and as many
// processors as it likes. A child that leaves the process group is not killed. On Windows
// only the program itself is killed. Run the service in a container or a systemd unit
// with limits if the program is not trusted: what it gets are recordings of patients.
//
// # Logs
//
// What a program writes to standard error may be about a patient. It is logged at level
// debug only, at most its last 4 KiB, when the program ends or reports an error, and so
// is the text of the member "error" of an answer. The messages of an Error repeat no
// text of an answer. The only exception is a program that fails before it got a
// recording: its message says what it wrote.
package process
