package ssl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

// fileMagic begins every converted model.
const fileMagic = "voicescreen-ssl\x01"

// zipMagic begins every zip file, and so every checkpoint.
const zipMagic = "PK\x03\x04"

// Options configures Open. Nil and zero fields mean the default.
type Options struct {
	Threads int // goroutines for one window; the default is GOMAXPROCS
	Windows int // windows at the same time; further calls wait. The default is 1

	// Int8 rounds the factors of most products to integers of eight bits: weights take
	// a quarter of the memory, and a window less than half of the processor time on
	// processors with AVX-512 VNNI. SSL.md says how much scores change. It has
	// no effect on a converted model, which has the form that it was written in.
	Int8 bool

	// SHA256 is the checksum that the file must have, in hexadecimal: of a
	// directory, model.safetensors. Default: any checksum is accepted.
	SHA256 string

	// Synthetic names the classes that mean a synthetic voice. Default: by their
	// names, if all of them say so; of an AntiDeepfake checkpoint, "fake". A
	// converted model has its own.
	Synthetic []string

	// Heads is the number of attention heads of a checkpoint, whose tensors do not
	// show it. Default: that of the published network of the same width.
	Heads int

	// Name, Licence and Source replace what is known about the model. The default
	// name is that of the file or directory.
	Name, Licence, Source string
}

// Is reports whether the file or directory at path can be a model that Open reads. The
// error is that of reading it.
func Is(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		_, err := os.Stat(filepath.Join(path, "config.json"))
		return err == nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(fileMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	switch head := string(head[:n]); {
	case head == fileMagic:
		return true, nil
	case strings.HasPrefix(head, zipMagic):
		c, err := tensorfile.OpenCheckpoint(f, info.Size())
		return err == nil && isFairseq(c), nil
	}
	return false, nil
}

// isFairseq reports whether a checkpoint has the tensors of AntiDeepfake.
func isFairseq(t tensors) bool {
	for _, name := range t.Names() {
		if strings.HasPrefix(name, fairseqPrefix) {
			return true
		}
	}
	return false
}

// Open loads the model at path: a checkpoint of AntiDeepfake, a directory of Hugging
// Face, or a file that Model.Write made of one of them, whose weights stay in the file
// and must not change while the model is in use. Errors wrap one of the package's, or
// an error of package os.
func Open(path string, opts *Options) (*Model, error) {
	if opts == nil {
		opts = &Options{}
	}
	m, err := open(path, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func open(path string, opts *Options) (*Model, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, bare(err)
	} else if info.IsDir() {
		return openDirectory(path, opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	head := make([]byte, len(fileMagic))
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, bare(err)
	} else if head = head[:n]; string(head) == fileMagic {
		return openConverted(f, info.Size(), opts)
	}
	if !strings.HasPrefix(string(head), zipMagic) {
		return nil, fmt.Errorf("%w: neither a zip file nor a converted model", ErrCheckpoint)
	}
	c, err := tensorfile.OpenCheckpoint(f, info.Size())
	if err != nil {
		return nil, err
	}
	return openFairseq(f, c, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), opts)
}

// bare removes the path, which Open adds, from an error of package os.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("ssl: %w", p.Err)
	}
	return fmt.Errorf("ssl: %w", err)
}

// openFairseq loads a checkpoint of AntiDeepfake.
func openFairseq(f *os.File, t tensors, name string, opts *Options) (*Model, error) {
	s, err := fairseqShape(t, opts.Heads)
	if err != nil {
		return nil, err
	}
	read, err := bind(t, &s, fairseqKey, func(key string) bool {
		for _, name := range fairseqUnused {
			if strings.HasPrefix(key, fairseqPrefix+name) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if s.Classes != 2 {
		return nil, fmt.Errorf("%w: %sweight has %d classes, want 2", ErrWeights, fairseqHead, s.Classes)
	}
	card := Card{Name: name, Licence: antiDeepfakeLicence, Source: antiDeepfakeSource, Labels: []string{"fake", "real"}}
	return load(f, contents{Network: s, Card: card}, read, opts)
}

// openDirectory loads a model in the form of Hugging Face.
func openDirectory(dir string, opts *Options) (*Model, error) {
	c, s, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	labels, err := c.labels()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	t, err := tensorfile.OpenSafetensors(f, info.Size())
	if err != nil {
		return nil, err
	}
	prefix := architectures[c.Architectures[0]]
	read, err := bind(t, &s, func(name string) string { return huggingFaceKey(t, prefix, name) },
		func(key string) bool { return key == prefix+"masked_spec_embed" })
	if err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	card := Card{Name: filepath.Base(dir), Licence: licenceOf(dir), Labels: labels}
	if n := c.NameOrPath; !strings.HasPrefix(n, "/") && !strings.HasPrefix(n, ".") && len(n) <= maxText { // not a path of another machine
		card.Source = n
	}
	return load(f, contents{Network: s, Card: card}, read, opts)
}

// load loads the weights in f that read reads.
func load(f *os.File, c contents, read func(dst []float32, name string, dims []int) error, opts *Options) (*Model, error) {
	var err error
	if c.Card.Synthetic, err = synthetic(c.Card.Labels, opts.Synthetic); err != nil {
		return nil, err
	}
	opts.apply(&c.Card)
	if err := c.check(); err != nil {
		return nil, err
	}
	sum, err := checksum(f)
	if err != nil {
		return nil, err
	}
	if err := opts.verify(sum); err != nil {
		return nil, err
	}
	n, err := wav2vec.NewNetwork(c.Network, read, opts.network(opts.Int8))
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	return &Model{network: n, card: c.Card, sum: sum}, nil
}

// openConverted maps a converted model.
func openConverted(f *os.File, size int64, opts *Options) (*Model, error) {
	if opts.SHA256 != "" {
		sum, err := checksum(f)
		if err != nil {
			return nil, err
		}
		if err := opts.verify(sum); err != nil {
			return nil, err
		}
	}
	data, unmap, err := tensorfile.Map(f, size)
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	m, err := fromBytes(data, opts, contents.checkSealed)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	runtime.AddCleanup(m.network, func(unmap func() error) { _ = unmap() }, unmap) // memory that is mapped can be unmapped
	return m, nil
}

// fromBytes returns the converted model whose file is data, which it keeps. Check checks
// its header.
func fromBytes(data []byte, opts *Options, check func(contents) error) (*Model, error) {
	file, err := tensorfile.Open(bytes.NewReader(data), int64(len(data)), fileMagic, check)
	if err != nil {
		return nil, err
	}
	c := file.Shape()
	if len(opts.Synthetic) > 0 {
		if c.Card.Synthetic, err = synthetic(c.Card.Labels, opts.Synthetic); err != nil {
			return nil, err
		}
	}
	opts.apply(&c.Card)
	if err := c.check(); err != nil {
		return nil, err
	}
	arrays, err := file.Mapped(data)
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	n, err := wav2vec.FromPacked(c.Network, arrays, opts.network(c.Int8))
	if err != nil {
		return nil, fmt.Errorf("ssl: %w", err)
	}
	return &Model{network: n, card: c.Card, sum: c.SHA256}, nil
}

// apply replaces what the options state.
func (o *Options) apply(c *Card) {
	for _, r := range []struct {
		to   *string
		from string
	}{{&c.Name, o.Name}, {&c.Licence, o.Licence}, {&c.Source, o.Source}} {
		if r.from != "" {
			*r.to = r.from
		}
	}
}

func (o *Options) network(int8 bool) wav2vec.Options {
	return wav2vec.Options{Samples: windowLongest, Threads: o.Threads, Clips: o.Windows, Int8: int8}
}

// verify returns an error if a checksum is not the expected one.
func (o *Options) verify(sum string) error {
	if o.SHA256 != "" && !strings.EqualFold(sum, o.SHA256) {
		return fmt.Errorf("%w: it is %s, want %s", ErrChecksum, sum, o.SHA256)
	}
	return nil
}

// checksum returns the SHA-256 of a file in hexadecimal.
func checksum(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", bare(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Write writes the model as a converted model, which opens fastest.
func (m *Model) Write(w io.Writer) error {
	defer runtime.KeepAlive(m.network) // its weights may be mapped from a file until nothing refers to it
	c, err := contents{Network: m.network.Shape(), Card: m.card, SHA256: m.sum, Int8: m.network.Int8()}.seal()
	if err != nil {
		return fmt.Errorf("ssl: %w", err)
	}
	packed := m.network.Packed()
	return tensorfile.Write(w, fileMagic, c, "", func(dst []float32, name string, _ []int) error {
		copy(dst, packed[name])
		return nil
	})
}
