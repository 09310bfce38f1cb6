//go:build !amd64

package models

const hasAVX2 = false

func productsAVX2(_ *[4]int32, _, _ *int16, _ *byte, _ int) {}
func weighAVX2(_, _ *int32, _, _ *byte, _ *[4]int16, _ int) {}
