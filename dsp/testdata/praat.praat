# Measures every WAV file of a directory, given by its absolute path, with Praat
# and prints JSON:
#
#	praat --run praat.praat "$PWD" > praat.json
#
# The settings are Praat's defaults, but for a pitch range of 50 to 800 Hz and
# frames every 10 ms. The power cepstrogram and its peak have the settings of
# Maryn and Weenink (2015) with a straight line.
form: "Measure"
	text: "directory", "."
endform
files = Create Strings as file list: "files", directory$ + "/*.wav"
n = Get number of strings
writeInfoLine: "{"
for i to n
	selectObject: files
	file$ = Get string: i
	name$ = file$ - ".wav"
	sound = Read from file: directory$ + "/" + file$
	appendInfo: " """, name$, """: {"

	pitch = noprogress To Pitch (ac): 0.01, 50, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, 800
	f0 = Get quantile: 0, 0, 0.5, "Hertz"
	frames = Get number of frames
	first = Get time from frame number: 1
	track$ = ""
	for k to frames
		f = Get value in frame: k, "Hertz"
		if f = undefined
			f = 0
		endif
		track$ = track$ + if k > 1 then ", " else "" fi + fixed$ (f, 3)
	endfor

	# The pulses follow the pitch by cross-correlation, as the manual page
	# "Voice 2. Jitter" advises.
	selectObject: sound
	cc = noprogress To Pitch (cc): 0.01, 50, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, 800
	selectObject: sound, cc
	points = noprogress To PointProcess (cc)
	pulses = Get number of points
	jitter = Get jitter (local): 0, 0, 0.0001, 0.02, 1.3
	absolute = Get jitter (local, absolute): 0, 0, 0.0001, 0.02, 1.3
	rap = Get jitter (rap): 0, 0, 0.0001, 0.02, 1.3
	ppq = Get jitter (ppq5): 0, 0, 0.0001, 0.02, 1.3
	ddp = Get jitter (ddp): 0, 0, 0.0001, 0.02, 1.3
	selectObject: sound, points
	shimmer = Get shimmer (local): 0, 0, 0.0001, 0.02, 1.3, 1.6
	db = Get shimmer (local_dB): 0, 0, 0.0001, 0.02, 1.3, 1.6
	apq3 = Get shimmer (apq3): 0, 0, 0.0001, 0.02, 1.3, 1.6
	apq5 = Get shimmer (apq5): 0, 0, 0.0001, 0.02, 1.3, 1.6
	apq11 = Get shimmer (apq11): 0, 0, 0.0001, 0.02, 1.3, 1.6

	selectObject: sound
	harmonicity = noprogress To Harmonicity (ac): 0.01, 50, 0.1, 4.5
	hnr = Get mean: 0, 0

	selectObject: sound
	formant = noprogress To Formant (burg): 0.01, 5, 5500, 0.025, 50
	# Medians over the voiced frames of the pitch.
	for k to 3
		values# = zero# (0)
		for j to frames
			selectObject: pitch
			f = Get value in frame: j, "Hertz"
			t = Get time from frame number: j
			selectObject: formant
			v = Get value at time: k, t, "hertz", "Linear"
			if f <> undefined and v <> undefined
				values# = combine# (values#, { v })
			endif
		endfor
		values# = sort# (values#)
		m = size (values#)
		median[k] = 0.5 * (values# [floor ((m + 1) / 2)] + values# [floor (m / 2) + 1])
	endfor

	selectObject: sound
	cepstrogram = noprogress To PowerCepstrogram: 60, 0.002, 5000, 50
	cpps = Get CPPS: "no", 0.02, 0.0005, 60, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust"

	appendInfoLine: """f0_median_hz"": ", fixed$ (f0, 3), ", ""pulses"": ", pulses, ","
	appendInfoLine: "  ""jitter_local"": ", fixed$ (jitter, 6), ", ""jitter_absolute_s"": ", fixed$ (absolute, 9), ", ""jitter_rap"": ", fixed$ (rap, 6), ", ""jitter_ppq5"": ", fixed$ (ppq, 6), ", ""jitter_ddp"": ", fixed$ (ddp, 6), ","
	appendInfoLine: "  ""shimmer_local"": ", fixed$ (shimmer, 6), ", ""shimmer_local_db"": ", fixed$ (db, 5), ", ""shimmer_apq3"": ", fixed$ (apq3, 6), ", ""shimmer_apq5"": ", fixed$ (apq5, 6), ", ""shimmer_apq11"": ", fixed$ (apq11, 6), ","
	appendInfoLine: "  ""hnr_mean_db"": ", fixed$ (hnr, 3), ", ""cpps_db"": ", fixed$ (cpps, 3), ", ""f1_median_hz"": ", fixed$ (median[1], 2), ", ""f2_median_hz"": ", fixed$ (median[2], 2), ", ""f3_median_hz"": ", fixed$ (median[3], 2), ","
	appendInfoLine: "  ""f0_first_s"": ", fixed$ (first, 6), ", ""f0_hz"": [", track$, "]", if i < n then "}," else "}" fi
	removeObject: sound, pitch, cc, points, harmonicity, formant, cepstrogram
endfor
appendInfoLine: "}"
