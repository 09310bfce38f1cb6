package bolt

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// openFiles holds the databases that this process has open. A lock of the system
// does not say who holds it.
var openFiles struct {
	mu   sync.Mutex // protects list
	list []os.FileInfo
}

// noteOpened adds the file of a database that was opened and locked.
func noteOpened(file os.FileInfo) {
	openFiles.mu.Lock()
	defer openFiles.mu.Unlock()
	openFiles.list = append(openFiles.list, file)
}

// noteClosed removes one entry of noteOpened.
func noteClosed(file os.FileInfo) {
	openFiles.mu.Lock()
	defer openFiles.mu.Unlock()
	if i := slices.Index(openFiles.list, file); i >= 0 {
		openFiles.list = slices.Delete(openFiles.list, i, i+1)
	}
}

// lockedBy returns an ErrLocked that says whether this process or another one has
// the database open that stands at path. The answer is that of the moment: a
// database that was closed meanwhile counts as another process's.
func lockedBy(path string) error {
	who := "another process"
	if file, err := os.Stat(path); err == nil {
		openFiles.mu.Lock()
		defer openFiles.mu.Unlock()
		if slices.ContainsFunc(openFiles.list, func(f os.FileInfo) bool { return os.SameFile(f, file) }) {
			who = "this process"
		}
	}
	return fmt.Errorf("%w by %s", ErrLocked, who)
}
