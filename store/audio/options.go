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

// Cipher encrypts audio with a key for each file, which stands sealed at the
// file's beginning: Dir overwrites it with zeros, and syncs that, before it
// removes the file. The functions must be safe for concurrent use.
type Cipher struct {
	// Seal returns a writer that encrypts to w, whose header it has written.
	Seal func(ref string, w io.Writer) (io.WriteCloser, error)
	// Open returns a reader of what f holds, which closes f, and takes f over,
	// also when it fails. It returns store.ErrNotFound where the header is all
	// zeros.
	Open func(ref string, f io.ReadCloser) (io.ReadCloser, error)
	// HeaderLen is the length of the header, in bytes.
	HeaderLen int
}

// Files are the calls of the system that change files.
type Files struct {
	Create  func(name string) (*os.File, error)
	Write   func(f *os.File, p []byte) (int, error)
	Sync    func(f *os.File) error
	Rename  func(from, to string) error
	Remove  func(name string) error
	SyncDir func(dir string) error
}

// SystemFiles returns the calls as they are.
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
