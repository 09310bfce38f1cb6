package ssl

const (
	// sampleRate is that of the networks, in Hz.
	sampleRate = 16000

	// Windows have 10 to 13 s, as the recordings on which AntiDeepfake was trained,
	// and overlap by at least 2 s, so that no stretch is only at the edge of a
	// window, where the network hears little around it. The overlap is chosen.
	windowShortest = 10 * sampleRate
	windowLongest  = 13 * sampleRate
	windowOverlap  = 2 * sampleRate

	// minSpeech is the least speech of a window that has a score, in seconds: the
	// least that the service accepts for a deepfake score. A recording with less has
	// a score, with a lower coverage.
	minSpeech = 2.0
)

// windows returns the first sample, and the one past the last, of each window of n
// samples: one of up to 13 s, or the fewest of equal length, from 10 to 13 s, evenly
// spread, that overlap by 2 s or more.
func windows(n int) [][2]int {
	if n <= windowLongest {
		return [][2]int{{0, n}}
	}
	const step = windowLongest - windowOverlap
	count := (n - windowOverlap + step - 1) / step
	length := max(windowShortest, (n+(count-1)*windowOverlap+count-1)/count)
	w := make([][2]int, count)
	for k := range w {
		start := k * (n - length) / (count - 1)
		w[k] = [2]int{start, start + length}
	}
	return w
}

// segments returns the limits of the segment that each window stands for, in samples:
// the middles of the overlaps.
func segments(w [][2]int) [][2]int {
	s := make([][2]int, len(w))
	copy(s, w)
	for k := 1; k < len(w); k++ {
		middle := (w[k-1][1] + w[k][0]) / 2
		s[k-1][1], s[k][0] = middle, middle
	}
	return s
}
