package diskfault

import "fmt"

// Kind says what a call does.
type Kind uint8

const (
	Create   Kind = iota + 1 // of a file that was not there
	Write                    // of Data at Offset
	Truncate                 // to Offset bytes
	Sync                     // of a file or a directory
	Rename                   // of Name to To
	Link                     // of Name as To
	Unlink                   // of Name
	Mkdir                    // of Name
	Say                      // of Data, on standard output
)

var kindNames = [...]string{"create", "write", "truncate", "sync", "rename", "link", "unlink", "mkdir", "say"}

func (k Kind) String() string {
	if k == 0 || int(k) > len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k-1]
}

// Call is one call that changes files, or says something.
type Call struct {
	Kind   Kind
	Name   string // relative to the directory that is recorded; of Write, Truncate and Sync as the file was opened
	To     string // of Rename and Link, in the same directory
	File   int    // number of the file or directory; no two have the same one
	Dir    int    // number of the directory that Name is in
	Offset int64  // of Write; of Truncate the new size
	Data   []byte
	Failed bool // it changed nothing
}

// Step is the end of a call, or the beginning of a Sync. Calls overlap where a
// program has several threads. What a program says stands where it begins to.
type Step struct {
	Call  *Call
	Begin bool
}
