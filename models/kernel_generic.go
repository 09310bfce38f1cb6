//go:build !amd64

package models

const hasAVX2 = false

func distanceAVX2(*float64, *byte, int) float64       { return 0 }
func weighAVX2(_ *float64, _ *byte, _ float64, _ int) {}
