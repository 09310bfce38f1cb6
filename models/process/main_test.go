package process

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain makes the test binary the program of the tests if its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		helper(os.Args[2], os.Args[3:])
		return
	}
	goleak.VerifyTestMain(m)
}

// say writes a frame to standard output.
func say(format string, args ...any) {
	if err := writeFrame(os.Stdout, fmt.Appendf(nil, format, args...)); err != nil {
		os.Exit(9)
	}
}

// hear reads a frame of any length from standard input; the end of the input ends the
// program.
func hear() []byte {
	var head [4]byte
	if _, err := os.Stdin.Read(head[:1]); err != nil {
		os.Exit(0)
	}
	readFull(head[1:])
	data := make([]byte, binary.LittleEndian.Uint32(head[:]))
	readFull(data)
	return data
}

func readFull(b []byte) {
	for len(b) > 0 {
		n, err := os.Stdin.Read(b)
		if err != nil {
			os.Exit(8)
		}
		b = b[n:]
	}
}

const helperHello = `{"protocol":"voicescreen-scorer/1","name":"helper","version":"1","categories":["deepfake"]}`

// helper is the program. Its mode is how it behaves.
func helper(mode string, args []string) {
	switch mode {
	case "host":
		host()
		return
	case "hang at the start":
		time.Sleep(time.Hour)
	case "die at the start":
		fmt.Fprint(os.Stderr, "no model\x1b here")
		os.Exit(3)
	case "die after the first time": // a start is marked by a file
		if _, err := os.Stat(args[0]); err == nil {
			os.Exit(4)
		}
		if err := os.WriteFile(args[0], nil, 0o600); err != nil {
			os.Exit(5)
		}
	case "print":
		fmt.Print("loading the model ...\n")
	case "change":
		if _, err := os.Stat(args[0]); err == nil {
			say(`{"protocol":"voicescreen-scorer/1","name":"helper","version":"2","categories":["deepfake"]}`)
		}
		os.WriteFile(args[0], nil, 0o600)
	}
	say(helperHello)
	if mode == "deaf" {
		time.Sleep(time.Hour)
	}
	for {
		head, samples := hear(), hear()
		var q question
		if err := json.Unmarshal(head, &q); err != nil || q.Samples*4 != len(samples) {
			os.Exit(7)
		}
		answerAs(mode, args, q, samples)
	}
}

// answerAs answers a question.
func answerAs(mode string, args []string, q question, samples []byte) {
	score := `{"category":"deepfake","probability":%v}`
	switch mode {
	case "hang":
		time.Sleep(time.Hour)
	case "die", "die after the first time", "change":
		fmt.Fprint(os.Stderr, "patient ", q.Metadata.Age)
		os.Exit(3)
	case "flood":
		for {
			os.Stdout.Write(bytes.Repeat([]byte("0123456789"), 1000))
		}
	case "flood stderr":
		for {
			os.Stderr.Write(bytes.Repeat([]byte("0123456789"), 1000))
		}
	case "half":
		os.Stdout.Write([]byte{200, 0, 0, 0, '{'})
		os.Exit(0)
	case "twice":
		say(`{"id":%d,"scores":[`+score+`]}`, q.ID, 0.5)
		say(`{"id":%d,"scores":[`+score+`]}`, q.ID, 0.5)
	case "family": // a child that outlives it, in its group
		child := exec.Command(os.Args[0], "helper", "hang at the start")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			os.Exit(6)
		}
		if err := os.WriteFile(args[0], fmt.Append(nil, child.Process.Pid), 0o600); err != nil {
			os.Exit(6)
		}
		os.Exit(0)
	case "answer": // what it is told to
		say("%s", strings.ReplaceAll(args[0], "ID", fmt.Sprint(q.ID)))
	case "surroundings":
		wd, _ := os.Getwd()
		say(`{"id":%d,"scores":[`+score+`],"error":null}`, q.ID, float64(len(os.Environ()))/100)
		os.WriteFile(args[0], fmt.Append(nil, wd, "\n", strings.Join(os.Environ(), ",")), 0o600)
	default: // a checksum of samples, and what it was told
		sum := 0.0
		for i := 0; i < len(samples); i += 4 {
			sum += float64(math.Float32frombits(binary.LittleEndian.Uint32(samples[i:])))
		}
		say(`{"id":%d,"scores":[{"category":"deepfake","probability":0.25,"contributions":[{"feature":"sum","value":%v,"logits":0},{"feature":"samples","value":%d,"logits":1},{"feature":"age","value":%d,"logits":-2},{"feature":"pid","value":%d,"logits":0}],"cautions":["unfamiliar"]}]}`, q.ID, sum, q.Samples, q.Metadata.Age, os.Getpid())
	}
}
