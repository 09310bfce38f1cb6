//go:build !amd64

package pcm

const hasAVX2 = false

func decodeAVX2(*float64, *byte, int)       {}
func encodeAVX2(*int16, *float64, int) bool { return false }
