# Measures the smoothed cepstral peak prominence of every WAV file of a
# directory, given by its absolute path, with Praat and prints JSON:
#
#	go run ./internal/proof/accuracy -write "$PWD/made"
#	praat --run internal/proof/accuracy/cpps.praat "$PWD/made" > internal/proof/accuracy/cpps.json
#
# The settings are those of Maryn and Weenink (2015) with a straight line.
form: "Measure"
	text: "directory", "."
endform
files = Create Strings as file list: "files", directory$ + "/*.wav"
n = Get number of strings
writeInfoLine: "{"
for i to n
	selectObject: files
	file$ = Get string: i
	sound = Read from file: directory$ + "/" + file$
	cepstrogram = noprogress To PowerCepstrogram: 60, 0.002, 5000, 50
	cpps = Get CPPS: "no", 0.02, 0.0005, 60, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust"
	appendInfoLine: " """, file$ - ".wav", """: ", fixed$ (cpps, 3), if i < n then "," else "" fi
	removeObject: sound, cepstrogram
endfor
appendInfoLine: "}"
