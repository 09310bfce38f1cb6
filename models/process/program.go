package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/voicescreen/voicescreen/models"
)

const (
	// tailBytes is how much of standard error is kept. Chosen: a traceback.
	tailBytes = 4 << 10

	// maxStderr is how many bytes a program may write to standard error for each
	// recording. Chosen: 1,000 times what a talkative library writes.
	maxStderr = 16 << 20

	// drainTime is how long a program may take to end that was asked to, and standard
	// error to end after it. Chosen: it has nothing left to do.
	drainTime = time.Second
)

// program is one process. Only the method kill is safe for concurrent use.
type program struct {
	stdin  *os.File // writing end
	stdout *os.File // reading end
	stderr *os.File // reading end
	in     *bufio.Writer
	out    *bufio.Reader
	asked  uint64 // recordings
	exited chan struct{}
	state  *os.ProcessState // once exited is closed
	quiet  chan struct{}    // closed when nothing reads stderr any more

	mu    sync.Mutex
	cmd   *exec.Cmd
	gone  bool  // whether the process was waited for; its id may be another's since
	fault error // why it was killed
	tail  []byte
	wrote int64 // bytes to standard error since the last recording began
}

// startProgram starts a process. The caller calls end.
func startProgram(command, env []string, dir string) (*program, error) {
	p := &program{exited: make(chan struct{}), quiet: make(chan struct{})}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = append([]string{}, env...), dir // nil would be the whole environment
	isolate(cmd)
	var theirs [3]*os.File
	var errs [3]error
	theirs[0], p.stdin, errs[0] = os.Pipe()
	p.stdout, theirs[1], errs[1] = os.Pipe()
	p.stderr, theirs[2], errs[2] = os.Pipe()
	err := errors.Join(errs[:]...)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
		p.cmd = cmd
		started := make(chan error)
		go p.run(started)
		err = <-started
	}
	for _, f := range theirs {
		f.Close() // a nil *os.File only returns an error
	}
	if err != nil {
		p.stdin.Close()
		p.stdout.Close()
		p.stderr.Close()
		return nil, err
	}
	p.in, p.out = bufio.NewWriterSize(p.stdin, 64<<10), bufio.NewReader(p.stdout)
	go p.listen()
	return p, nil
}

// run starts the process and waits for it. The thread stays that of this goroutine: on
// Linux the process is killed when the thread that started it ends.
func (p *program) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	if err == nil {
		limit(p.cmd.Process.Pid)
	}
	started <- err
	if err != nil {
		return
	}
	await(p.cmd)
	p.mu.Lock()
	killGroup(p.cmd.Process) // children that are left over
	p.gone = true
	p.mu.Unlock()
	p.cmd.Wait() // its state says more than the error
	p.state = p.cmd.ProcessState
	close(p.exited)
}

// listen keeps the end of standard error.
func (p *program) listen() {
	defer close(p.quiet)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.stderr.Read(buf)
		p.mu.Lock()
		p.tail = append(p.tail, buf[:n]...)
		p.tail = append(p.tail[:0], p.tail[max(0, len(p.tail)-tailBytes):]...)
		p.wrote += int64(n)
		flood := p.wrote > maxStderr
		p.mu.Unlock()
		if flood {
			p.kill(fmt.Errorf("%w: more than %d bytes to standard error for one recording", ErrFlood, maxStderr))
		}
		if err != nil {
			return
		}
	}
}

// kill kills the process group. The first fault is kept. Reads and writes under way fail.
func (p *program) kill(fault error) {
	p.mu.Lock()
	if p.fault == nil {
		p.fault = fault
	}
	if !p.gone {
		killGroup(p.cmd.Process)
	}
	p.mu.Unlock()
	p.stdin.Close() // in case that a child that left the group holds the other end
	p.stdout.Close()
}

// within calls f, and kills the process if it takes longer than limit or ctx ends. The
// error is ErrTimeout, that of ctx, or that of f with the reason of its failure.
func (p *program) within(ctx context.Context, limit time.Duration, f func() error) error {
	timed, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: waited %v", ErrTimeout, limit))
	defer cancel()
	stop := context.AfterFunc(timed, func() { p.kill(context.Cause(timed)) })
	err := f()
	if !stop() {
		p.kill(context.Cause(timed)) // which may not have happened yet
	}
	return p.explain(err)
}

// explain returns why reading or writing failed.
func (p *program) explain(err error) error {
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	var source *sourceError
	switch {
	case fault != nil:
		return fault
	case err == nil, errors.Is(err, ErrProtocol), errors.Is(err, ErrAnswer), errors.Is(err, ErrReported), errors.As(err, &source):
		return err
	}
	select { // it closed a stream: most likely it has ended
	case <-p.exited:
		return fmt.Errorf("%w: %v", ErrExit, p.state)
	case <-time.After(drainTime):
		return fmt.Errorf("%w: it closed its standard input or output", ErrExit)
	}
}

// hello reads the description of the program.
func (p *program) hello(ctx context.Context, limit time.Duration) (info models.Info, err error) {
	err = p.within(ctx, limit, func() error {
		data, err := readFrame(p.out)
		if err == nil {
			info, err = parseHello(data)
		}
		return err
	})
	return info, err
}

// ended reports whether the process has ended.
func (p *program) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// end closes the standard input, which asks the program to end, kills it after a second,
// and waits for it. It may be called again. Nothing may be read or written meanwhile.
func (p *program) end() {
	p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(drainTime):
		p.kill(nil)
		<-p.exited
	}
	select {
	case <-p.quiet:
	case <-time.After(drainTime): // a child that left the group holds it
		p.stderr.Close()
		<-p.quiet
	}
	p.stdout.Close()
	p.stderr.Close()
}

// said returns the end of what the program wrote to standard error.
func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return printable(string(p.tail))
}

// printable returns a text without control characters but line ends, and at most
// tailBytes of it.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), tailBytes)], ""))
	return strings.TrimSpace(s)
}
