package diskfault

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

// Recorder records how programs change the files below a directory, one program after the
// other. It is not safe for concurrent use.
type Recorder struct {
	// Fault, if not nil, is called before each call except Say. If err is not 0, the
	// call has no effect and fails with it. If n is greater than 0, a Write writes only
	// the first n bytes.
	Fault func(c *Call) (err syscall.Errno, n int)

	// Stop, if not nil, is called after each step. If it returns true the program is
	// killed.
	Stop func(s Step) bool

	// Steps is the recording.
	Steps []Step

	dir   string
	names map[string]int // file numbers by name relative to dir
	next  int            // number of the next file
}

// NewRecorder returns a recorder of the changes below an empty directory.
func NewRecorder(dir string) *Recorder {
	return &Recorder{dir: dir, names: map[string]int{".": rootDir}, next: rootDir + 1}
}

// tracee is the program that is being recorded.
type tracee struct {
	*Recorder
	pid    int
	mem    *os.File
	open   map[int]handle   // by file descriptor
	calls  map[int]*pending // by thread
	known  map[int]bool     // threads that have begun
	killed bool
}

// handle is an open file.
type handle struct {
	file    int
	name    string
	at      int64 // offset of the next write
	appends bool  // opened with O_APPEND: writes go to the end
}

// pending is a system call that has begun.
type pending struct {
	call    *Call // nil if it is not recorded
	nr      uint64
	args    [6]uint64
	fault   syscall.Errno
	opened  string // name of the file that the call opens
	appends bool   // whether it opens the file with O_APPEND
}

// Run runs a program until it ends or is killed, and returns the status with which it ended.
// The error names a system call that changes files below the directory and that Run cannot
// record.
func (r *Recorder) Run(cmd *exec.Cmd) (_ syscall.WaitStatus, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("diskfault: %w", err)
		}
	}()
	runtime.LockOSThread() // the tracer is one thread
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	cmd.SysProcAttr.Setpgid = true // so that only its threads are waited for
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	t := &tracee{Recorder: r, pid: cmd.Process.Pid, open: map[int]handle{}, calls: map[int]*pending{}, known: map[int]bool{}}
	defer func() { _ = cmd.Process.Release() }()
	return t.run()
}

func (t *tracee) run() (status syscall.WaitStatus, err error) {
	defer func() {
		if err != nil && !t.killed {
			_ = syscall.Kill(t.pid, syscall.SIGKILL)
		}
	}()
	var ws syscall.WaitStatus
	if _, err := wait(t.pid, &ws); err != nil { // the program stops when it begins
		return 0, err
	}
	if t.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", t.pid)); err != nil {
		return 0, err
	}
	defer func() { _ = t.mem.Close() }()
	const options = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | 1<<20 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return 0, err
	}
	t.known[t.pid] = true
	if err := syscall.PtraceSyscall(t.pid, 0); err != nil {
		return 0, err
	}
	for {
		tid, err := wait(-t.pid, &ws)
		if errors.Is(err, syscall.ECHILD) {
			return status, nil
		}
		if err != nil {
			return 0, err
		}
		if !ws.Stopped() {
			if tid == t.pid {
				status = ws
			}
			continue
		}
		signal, err := t.stopped(tid, ws)
		if err != nil {
			return 0, err
		}
		if err := syscall.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, syscall.ESRCH) { // a thread may be killed meanwhile
			return 0, err
		}
	}
}

// wait waits for a process or thread with wait4.
func wait(pid int, ws *syscall.WaitStatus) (tid int, err error) {
	for {
		tid, err = syscall.Wait4(pid, ws, syscall.WALL, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

// stopped handles a stop of a thread and returns the signal to deliver to it.
func (t *tracee) stopped(tid int, ws syscall.WaitStatus) (signal int, err error) {
	switch sig := ws.StopSignal(); {
	case sig == syscall.SIGTRAP|0x80:
		return 0, t.syscall(tid)
	case sig == syscall.SIGTRAP && ws.TrapCause() > 0: // the thread created another one
		return 0, nil
	case sig == syscall.SIGSTOP && !t.known[tid]: // a thread begins
		t.known[tid] = true
		return 0, nil
	default:
		return int(sig), nil
	}
}

// callInfo is struct ptrace_syscall_info of Linux.
type callInfo struct {
	op   uint8
	_    [3]uint8
	_    uint32
	_, _ uint64
	nr   uint64 // number of the call at its beginning, result at its end
	args [6]uint64
}

const (
	getCallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	opBegin     = 1
	opEnd       = 2
)

// syscall handles the beginning or the end of a system call.
func (t *tracee) syscall(tid int) error {
	var info callInfo
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getCallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno == syscall.ESRCH { // killed
		return nil
	}
	if errno != 0 {
		return fmt.Errorf("ask for a system call: %w", errno)
	}
	if t.killed {
		return nil
	}
	switch info.op {
	case opBegin:
		return t.begin(tid, info.nr, info.args)
	case opEnd:
		u := t.calls[tid]
		delete(t.calls, tid)
		if u == nil {
			return nil
		}
		return t.end(tid, u, int64(info.nr))
	}
	return nil
}

// begin handles the beginning of a call.
func (t *tracee) begin(tid int, nr uint64, args [6]uint64) error {
	u := &pending{nr: nr, args: args}
	if err := t.decode(u); err != nil {
		return err
	}
	if u.call == nil && u.opened == "" && nr != syscall.SYS_CLOSE {
		return nil
	}
	t.calls[tid] = u
	if nr == syscall.SYS_CLOSE {
		delete(t.open, int(int32(args[0]))) // another file may get the descriptor from now on
		return nil
	}
	c := u.call
	if c == nil {
		return nil
	}
	if c.Kind == Say {
		return t.step(Step{Call: c, Begin: true})
	}
	if t.Fault != nil {
		if err := t.inject(tid, u); err != nil {
			return err
		}
	}
	if c.Kind == Sync {
		return t.step(Step{Call: c, Begin: true})
	}
	return nil
}

// inject makes a call fail as Fault wants.
func (t *tracee) inject(tid int, u *pending) error {
	errno, n := t.Fault(u.call)
	if errno == 0 && n == 0 {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return fmt.Errorf("registers: %w", err)
	}
	if n > 0 && u.call.Kind == Write {
		regs.Rdx = min(regs.Rdx, uint64(n))
	} else {
		u.fault = errno
		regs.Orig_rax = ^uint64(0) // no such call
	}
	if err := syscall.PtraceSetRegs(tid, &regs); err != nil {
		return fmt.Errorf("registers: %w", err)
	}
	return nil
}

// end handles the end of a call.
func (t *tracee) end(tid int, u *pending, result int64) error {
	if u.fault != 0 {
		var regs syscall.PtraceRegs
		if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
			return fmt.Errorf("registers: %w", err)
		}
		result = -int64(u.fault)
		regs.Rax = uint64(result)
		if err := syscall.PtraceSetRegs(tid, &regs); err != nil {
			return fmt.Errorf("registers: %w", err)
		}
	}
	c := u.call
	if u.opened != "" && result >= 0 {
		if c != nil {
			c.File = t.create(c.Name)
		}
		if n, ok := t.names[u.opened]; ok {
			t.open[int(result)] = handle{file: n, name: u.opened, appends: u.appends}
		}
	}
	if c == nil || c.Kind == Say {
		return nil
	}
	c.Failed = result < 0
	if !c.Failed {
		t.done(u, result)
	}
	return t.step(Step{Call: c})
}

// done records the effect of a successful call.
func (t *tracee) done(u *pending, result int64) {
	c := u.call
	switch c.Kind {
	case Mkdir:
		c.File = t.create(c.Name)
	case Write:
		c.Data = c.Data[:result]
		if u.nr == syscall.SYS_WRITE {
			fd := int(int32(u.args[0]))
			h := t.open[fd]
			h.at += result
			t.open[fd] = h
		}
	case Link:
		t.names[c.To] = c.File
	case Rename:
		delete(t.names, c.Name)
		t.names[c.To] = c.File
	case Unlink:
		delete(t.names, c.Name)
	}
}

// create numbers a new file.
func (t *tracee) create(name string) int {
	t.names[name] = t.next
	t.next++
	return t.next - 1
}

// step records a step, and kills the program if Stop wants it.
func (t *tracee) step(s Step) error {
	t.Steps = append(t.Steps, s)
	if t.Stop == nil || !t.Stop(s) || s.Begin && s.Call.Kind == Sync {
		return nil
	}
	for _, u := range t.calls {
		if u.call != nil && u.call.Kind != Say {
			return nil // the effect of a call in progress would be unknown
		}
	}
	t.killed = true
	return syscall.Kill(t.pid, syscall.SIGKILL)
}
