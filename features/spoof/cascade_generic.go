//go:build !amd64

package spoof

const hasAVX2 = false

func cascadeAVX2(*float64, int, int, *filterLanes) {}
