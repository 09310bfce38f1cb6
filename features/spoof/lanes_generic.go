//go:build !amd64

package spoof

func laneLoadAVX2(_, _, _, _, _, _ *float64, _ int)                     {}
func laneUnloadAVX2(_, _, _, _, _ *float64, _ int)                      {}
func laneStageAVX2(_, _ *float64, _, _ int)                             {}
func laneLast4AVX2(*float64, int)                                       {}
func laneLast2AVX2(*float64, int)                                       {}
func lanePowerAVX2(_, _, _ *float64, _ *laneBin, _ int)                 {}
func laneCoefficientsAVX2(_, _, _ *float64, _ *laneBin, _ int)          {}
func laneSumAVX2(*[laneCount]float64, *float64, int)                    {}
func laneDotAVX2(_ *[laneCount]float64, _, _ *float64, _ int)           {}
func laneTaperAVX2(_, _, _ *float64, _ *[laneCount]float64, _ int)      {}
func laneSquaresAVX2(*[laneCount]float64, *float64, int)                {}
func laneChangeAVX2(_ *[laneCount]float64, _, _ *float64, _ int)        {}
func laneHighestAVX2(*[laneCount]float64, *float64, int)                {}
func laneUnfoldAVX2(_, _, _ *float64, _ *[laneCount]float64, _ int)     {}
func laneFoldAVX2(_, _, _, _, _ *float64, _ *[laneCount]float64, _ int) {}
