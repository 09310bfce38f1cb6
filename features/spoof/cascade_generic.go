//go:build !amd64

package spoof

const hasAVX2 = false

func cascadeAVX2(*float64, int, int, *filterLanes)          {}
func envelopesAVX2(_, _, _ *float64, _ int, _ *filterLanes) {}
