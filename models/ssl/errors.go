package ssl

import (
	"errors"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

// Errors that those of Open wrap. The messages name the fault.
var (
	// ErrConfig: config.json or preprocessor_config.json is invalid, or describes a
	// network that this package does not run.
	ErrConfig = errors.New("ssl: unsupported configuration")
	// ErrLabels: the names of the classes do not say which of them are synthetic.
	ErrLabels = errors.New("ssl: cannot tell which class is synthetic")
	// ErrChecksum: the file has another checksum than the expected one.
	ErrChecksum = errors.New("ssl: the file has another checksum")
	// ErrCheckpoint: the PyTorch checkpoint is broken or not supported.
	ErrCheckpoint = tensorfile.ErrCheckpoint
	// ErrSafetensors: the safetensors file is broken or not supported.
	ErrSafetensors = tensorfile.ErrSafetensors
	// ErrFile: the converted model is broken or of another format.
	ErrFile = tensorfile.ErrFile
	// ErrWeights: a tensor is missing, unknown or of the wrong shape.
	ErrWeights = tensorfile.ErrWeights
)
