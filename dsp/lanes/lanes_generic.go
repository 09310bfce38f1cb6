//go:build !amd64

package lanes

const hasAVX2 = false

func loadAVX2(_, _, _, _, _, _ *float64, _ int)                 {}
func unloadAVX2(_, _, _, _, _ *float64, _ int)                  {}
func stageAVX2(_, _ *float64, _, _ int)                         {}
func last4AVX2(*float64, int)                                   {}
func last2AVX2(*float64, int)                                   {}
func powersAVX2(_, _, _ *float64, _ *bin, _ int)                {}
func coefficientsAVX2(_, _, _ *float64, _ *bin, _ int)          {}
func sumAVX2(*[Count]float64, *float64, int)                    {}
func taperAVX2(_, _, _ *float64, _ *[Count]float64, _ int)      {}
func highestAVX2(*[Count]float64, *float64, int)                {}
func unfoldAVX2(_, _, _ *float64, _ *[Count]float64, _ int)     {}
func foldAVX2(_, _, _, _, _ *float64, _ *[Count]float64, _ int) {}
