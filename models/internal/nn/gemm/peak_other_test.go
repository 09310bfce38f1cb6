//go:build !amd64

package gemm

// spin has no measure of the peak on these processors.
func (kernel Kernel) spin(int) int { return 0 }
