package dam

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"

	"github.com/voicescreen/voicescreen/models/internal/nn"
	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// arrays returns the arrays of a network whose layers are allocated.
func (n *Network) arrays() *nn.Arrays {
	s, a := n.shape, &nn.Arrays{Int8: n.int8}
	for i, name := range encoders {
		e := &n.encoders[i]
		a.Exact(name+".conv1.weight", &e.conv1.Weight, taps*s.Mels, s.Width)
		a.Vector(name+".conv1.bias", &e.conv1.Bias, s.Width)
		a.Linear(name+".conv2", &e.conv2, taps*s.Width, s.Width)
		a.Vector(name+".positions", &e.positions, s.Frames*s.Width)
		for k := range e.layers {
			a.Layer(fmt.Sprintf("%s.layer.%d", name, k), &e.layers[k], s.Width, s.Inner)
		}
		a.Norm(name+".norm", &e.norm, s.Width)
	}
	dense := func(name string, d *dense, outputs, inputs int) {
		a.Vector(name+".weight", &d.weight, outputs*inputs)
		a.Vector(name+".bias", &d.bias, outputs)
	}
	dense("head.hidden", &n.head.hidden, s.Hidden, len(encoders)*s.Width)
	dense("head.shared", &n.head.shared, s.Shared, s.Hidden)
	for i, task := range tasks {
		dense("head."+task+".linear", &n.head.tasks[i].linear, s.Task, s.Shared)
		a.Vector("head."+task+".final", &n.head.tasks[i].final.weight, s.Task)
	}
	return a
}

// prepareInt8 returns a network of integers without weights.
func prepareInt8(s Shape) *Network {
	n := &Network{shape: s, int8: true}
	for i := range n.encoders {
		n.encoders[i].shape, n.encoders[i].layers = s, make([]nn.Layer, s.Layers)
	}
	return n
}

// int8Shape is a shape whose tensors are the arrays of a network of integers.
type int8Shape struct{ Shape }

// Tensors yields the name and the dimensions of each array.
func (s int8Shape) Tensors() iter.Seq2[string, []int] { return prepareInt8(s.Shape).arrays().Dims() }

// writeInt8 writes the model that read reads as integers. Source is the SHA-256 of its
// file.
func writeInt8(w io.Writer, s Shape, source string, read TensorReader) error {
	n, err := NewNetwork(s, read, &Options{Int8: true, Threads: 1})
	if err != nil {
		return err
	}
	arrays := n.arrays().Get()
	return tensorfile.Write(w, int8Magic, int8Shape{s}, source, func(dst []float32, name string, _ []int) error {
		copy(dst, arrays[name])
		return nil
	})
}

// openInt8 maps a converted model of integers of size bytes and shape s. It returns nil
// for another file.
func openInt8(f *os.File, size int64, s Shape, opts *Options) (*Network, error) {
	head := make([]byte, len(int8Magic))
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	} else if string(head[:n]) != int8Magic {
		return nil, nil
	}
	data, unmap, err := tensorfile.Map(f, size)
	if err != nil {
		return nil, fmt.Errorf("dam: %w", err)
	}
	n, err := fromBytes(data, s, opts)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	runtime.AddCleanup(n, func(unmap func() error) { _ = unmap() }, unmap) // memory that is mapped can be unmapped
	return n, nil
}

// fromBytes returns the network of shape s whose file is data, which it keeps.
func fromBytes(data []byte, s Shape, opts *Options) (*Network, error) {
	file, err := tensorfile.Open(bytes.NewReader(data), int64(len(data)), int8Magic, func(got int8Shape) error { return sameShape(got.Shape, s) })
	if err != nil {
		return nil, err
	}
	arrays, err := file.Mapped(data)
	if err != nil {
		return nil, err
	}
	n := prepareInt8(s)
	if err := n.arrays().Set(arrays); err != nil {
		return nil, err
	}
	n.start(opts)
	return n, nil
}
