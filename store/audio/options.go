package audio

import (
	"io"
	"os"

	"github.com/voicescreen/voicescreen/internal/durable"
)

// Options are the options of Open. Nil and zero fields mean the default.
type Options struct {
	// Cipher encrypts the files. Default: they are not encrypted.
	Cipher *Cipher
}

// Cipher encrypts each audio file with a key of its own, which stands sealed in a
// header at the beginning of the file. Dir overwrites the header with zeros, and syncs
// it, before it removes the file. The functions must be safe for concurrent use.
type Cipher struct {
	// Seal writes the header of a new file to w, and returns a writer that encrypts
	// to w. Its Close completes the content and does not close w.
	Seal func(ref string, w io.Writer) (io.WriteCloser, error)
	// Open returns a reader of the decrypted content of f. The reader closes f; if
	// Open fails it closes f itself. The error is store.ErrNotFound if the header is
	// all zeros.
	Open func(ref string, f io.ReadCloser) (io.ReadCloser, error)
	// HeaderLen is the length of the header, in bytes.
	HeaderLen int
}

// Files are the system calls that change files.
type Files struct {
	Create  func(name string) (*os.File, error)
	Write   func(f *os.File, p []byte) (int, error)
	Sync    func(f *os.File) error
	Rename  func(from, to string) error
	Remove  func(name string) error
	SyncDir func(dir string) error
}

// SystemFiles returns the calls of package os.
func SystemFiles() Files {
	return Files{
		Create: func(name string) (*os.File, error) {
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		},
		Write:   (*os.File).Write,
		Sync:    (*os.File).Sync,
		Rename:  os.Rename,
		Remove:  os.Remove,
		SyncDir: durable.SyncDir,
	}
}
