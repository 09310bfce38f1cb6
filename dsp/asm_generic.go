//go:build !amd64

package dsp

const (
	hasAVX  = false
	hasAVX2 = false
)

func firstStageAVX(*complex128, *float64, *complex128, int, int)            {}
func firstStageHalfAVX(*complex128, *float64, *complex128, int, int)        {}
func middleStageAVX(_, _, _ *complex128, _, _ int)                          {}
func lastStage4AVX(_, _ *complex128, _ int)                                 {}
func lastStage2AVX(_, _ *complex128, _ int)                                 {}
func powerLowAVX(_ *float64, _, _, _ *complex128, _ int)                    {}
func powerPairsAVX(_, _ *float64, _, _, _ *complex128, _ int)               {}
func coefficientPairsAVX(_, _, _, _, _ *complex128, _ int)                  {}
func sequencePairsAVX(_, _ *float64, _, _, _ *complex128, _ float64, _ int) {}
func conjugateAVX(_ *float64, _ *complex128, _ int)                         {}
func interpolateAVX(_, _, _ *float64, _, _, _, _, _, _ int)                 {}
func emphasizeAVX(_, _, _ *float64, _, _ float64, _ int)                    {}
func fluxAVX(_, _ *float64, _ float64, _ int) float64                       { return 0 }
func covarianceAVX(_, _, _ *float64, _ int)                                 {}

func dotAVX(_, _ *float64, _ int) float64                         { return 0 }
func dots3AVX(_ *[3]float64, _, _, _, _ *float64, _ int)          {}
func dots5AVX(_ *[5]float64, _, _, _, _, _, _ *float64, _ int)    {}
func totalAVX(_ *float64, _ int) float64                          { return 0 }
func correlate16AVX(_, _, _ *float64, _ int)                      {}
func correlate8AVX(_, _, _ *float64, _ int)                       {}
func shiftAVX(_, _ *float64, _ float64, _ int)                    {}
func productAVX(_, _, _ *float64, _ int)                          {}
func accumulateAVX(_, _ *float64, _ int)                          {}
func quarterAVX(_, _, _ *float64, _ float64, _ int)               {}
func logsAVX2(_, _ *float64, _ *[16]float64, _ int)               {}
func weighAVX(_, _, _, _ *float64, _ float64, _ int)              {}
func splitAVX(_, _, _ *float64, _ int)                            {}
func halveAVX(_, _, _, _ *float64, _, _ int)                      {}
func correlate32AVX(_, _, _ *float64, _ int)                      {}
func momentsAVX(_ *[8]float64, _ *float64, _ int)                 {}
func centralSumsAVX(_ *[12]float64, _ *float64, _ float64, _ int) {}
func powersAVX(_ *[16]float64, _ *float64, _ float64, _ int)      {}
func surveyAVX(_ *[12]float64, _ *float64, _ int)                 {}
func insideAVX(_ *float64, _, _ float64, _ int) int               { return 0 }
func centreAVX(_, _, _, _, _ *float64, _ float64, _ int)          {}
func orderAVX(_, _ *float64, _ int)                               {}
func taperAVX(_, _, _ *float64, _ float64, _ int)                 {}
func raiseAVX(_ *float64, _ float64, _ int)                       {}
func highestAVX(_ *float64, _ uint64, _ int) float64              { return 0 }
func widenAVX(_ *complex128, _ *float64, _ int)                   {}
func cbrtsAVX2(_ *float64, _ *[12]float64, _ int)                 {}
func trianglesAVX(_, _, _ *float64, _ *int, _ int)                {}
func combineAVX(_, _, _ *float64, _, _ int)                       {}
