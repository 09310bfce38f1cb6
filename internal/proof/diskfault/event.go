package diskfault

import "fmt"

// Kind is the kind of a call.
type Kind uint8

const (
	Create   Kind = iota + 1 // creates the file Name
	Write                    // writes Data at Offset
	Truncate                 // sets the size to Offset bytes
	Sync                     // syncs a file or a directory
	Rename                   // renames Name to To
	Link                     // gives the file Name the second name To
	Unlink                   // removes Name
	Mkdir                    // creates the directory Name
	Say                      // writes Data to standard output
)

var kindNames = [...]string{"create", "write", "truncate", "sync", "rename", "link", "unlink", "mkdir", "say"}

func (k Kind) String() string {
	if k == 0 || int(k) > len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k-1]
}

// Call is a system call that changes files or writes to standard output.
type Call struct {
	Kind   Kind
	Name   string // relative to the recorded directory; for Write, Truncate and Sync the name under which the file was opened
	To     string // the new name of Rename and Link, in the same directory
	File   int    // unique number of the file or directory
	Dir    int    // number of the directory that contains Name
	Offset int64  // of Write; the new size for Truncate
	Data   []byte
	Failed bool // whether the call returned an error; it then changed nothing
}

// Step is the end of a call, the beginning of a Sync, or the beginning of a Say. Calls of
// different threads overlap.
type Step struct {
	Call  *Call
	Begin bool
}
