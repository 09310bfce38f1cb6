package gemm

import "github.com/voicescreen/voicescreen/models/internal/nn/peak"

// spin computes n times twelve independent products of registers and returns the
// floating-point operations of each of the n. It returns 0 for a kernel without this
// measure.
func (kernel Kernel) spin(n int) int {
	switch kernel {
	case AVX512:
		peak.AVX512(n)
		return peak.OperationsAVX512
	case FMA:
		peak.FMA(n)
		return peak.OperationsFMA
	case BF16:
		peak.BF16(n)
		return peak.OperationsBF16
	}
	return 0
}
