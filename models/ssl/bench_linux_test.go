package ssl

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
)

var (
	torch = flag.String("torch", "", "the Python interpreter, which has PyTorch, for BenchmarkWindow")
	large = flag.Bool("large", false, "run benchmarks at the size of mms_300m too: two minutes")
)

// windowSeconds is the length of the clip of the benchmarks.
const windowSeconds = 12

// published are the shapes that the benchmarks run.
var published = map[string]wav2vec.Shape{
	"w2v_small": {
		Channels: 512, Kernels: publishedKernels, Strides: publishedStrides, ConvNorm: wav2vec.GroupNorm,
		Width: 768, Heads: 12, Inner: 3072, Layers: 12, PositionTaps: 128, PositionGroups: 16, Classes: 2, InputEpsilon: clipEpsilon,
	},
	"mms_300m": {
		Channels: 512, Kernels: publishedKernels, Strides: publishedStrides, ConvNorm: wav2vec.LayerNorm, ConvBias: true, NormFirst: true,
		Width: 1024, Heads: 16, Inner: 4096, Layers: 24, PositionTaps: 128, PositionGroups: 16, Classes: 2, InputEpsilon: clipEpsilon,
	},
}

// benchmarked are the names of the shapes that the benchmarks run.
func benchmarked() []string {
	if *large {
		return []string{"w2v_small", "mms_300m"}
	}
	return []string{"w2v_small"}
}

// writePublished writes a converted model of a published shape with seeded weights, and
// returns its path and the size of the file in bytes.
func writePublished(b *testing.B, name string, int8 bool) (string, int64) {
	b.Helper()
	shape := published[name]
	n, err := wav2vec.NewNetwork(shape, func(dst []float32, name string, dims []int) error {
		seeded.Weight(dst, name, dims)
		return nil
	}, (&Options{}).network(int8))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	m := &Model{network: n, card: Card{Name: name, Labels: []string{"fake", "real"}, Synthetic: []bool{true, false}}, sum: strings.Repeat("0", 64)}
	if err := m.Write(f); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return path, info.Size()
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWindow scores a window of 12 s at the published sizes of benchmarked, with weights of float32
// and of integers in turns, on one and two goroutines, and on one also in PyTorch with
// -torch: seconds of processor time, and of the clock, for a second of audio.
func BenchmarkWindow(b *testing.B) {
	for _, name := range benchmarked() {
		b.Run(name, func(b *testing.B) {
			var paths [2]string
			for i := range paths {
				paths[i], _ = writePublished(b, name, i == 1)
			}
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) { benchmarkWindow(b, paths, name, threads) })
			}
		})
	}
}

// benchmarkWindow compares the models of float32 and of integers at paths.
func benchmarkWindow(b *testing.B, paths [2]string, name string, threads int) {
	x := seeded.Samples(windowSeconds * sampleRate)
	var m [2]*Model
	var logits [2]float64
	for i, path := range paths {
		var err error
		if m[i], err = Open(path, &Options{Threads: threads}); err == nil {
			logits[i], err = m[i].Logit(b.Context(), x) // which allocates
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	used, clock := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(1), math.Inf(1)}
	for b.Loop() {
		for k := range 2 * 2 {
			start, begin := cpu(b), time.Now()
			if _, err := m[k%2].Logit(b.Context(), x); err != nil {
				b.Fatal(err)
			}
			used[k%2] = min(used[k%2], (cpu(b)-start).Seconds()/windowSeconds)
			clock[k%2] = min(clock[k%2], time.Since(begin).Seconds()/windowSeconds)
		}
	}
	b.ReportMetric(used[0], "cpu-s/s")
	b.ReportMetric(clock[0], "s/s")
	b.ReportMetric(used[1], "int8-cpu-s/s")
	b.ReportMetric(clock[1], "int8-s/s")
	b.ReportMetric(used[0]/used[1], "float32/int8")
	b.ReportMetric(math.Abs(dsp.Logistic(logits[0])-dsp.Logistic(logits[1])), "score-moved")
	if *torch != "" && threads == 1 {
		theirs, theirClock := timeTorch(b, name, threads)
		b.ReportMetric(theirs, "torch-cpu-s/s")
		b.ReportMetric(theirClock, "torch-s/s")
		b.ReportMetric(used[0]/theirs, "cpu/torch")
	}
}

// timeTorch returns the least processor time, and time of the clock, of PyTorch for a
// second of audio.
func timeTorch(b *testing.B, name string, threads int) (seconds, clock float64) {
	b.Helper()
	out, err := exec.Command(*torch, "testdata/make.py", "time", name, strconv.Itoa(threads), strconv.Itoa(windowSeconds)).CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	seconds, clock = math.Inf(1), math.Inf(1)
	for _, m := range regexp.MustCompile(`([0-9.]+) s of CPU and ([0-9.]+) s`).FindAllStringSubmatch(string(out), -1) {
		for i, to := range []*float64{&seconds, &clock} {
			v, err := strconv.ParseFloat(m[i+1], 64)
			if err != nil {
				b.Fatal(err)
			}
			*to = min(*to, v)
		}
	}
	return seconds, clock
}

// BenchmarkOpen opens a converted model, and reports the resident memory of a process
// that runs a window with it, in units of the weights.
func BenchmarkOpen(b *testing.B) {
	if path := os.Getenv("SSL_RESIDENT"); path != "" { // the process that is measured
		m, err := Open(path, &Options{Threads: 2})
		if err == nil {
			_, err = m.Logit(b.Context(), seeded.Samples(windowLongest))
		}
		if err != nil {
			b.Fatal(err)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			b.Fatal(err)
		}
		fmt.Println(string(regexp.MustCompile(`VmHWM:.*`).Find(status)))
		return
	}
	var kinds []string
	for _, name := range benchmarked() {
		kinds = append(kinds, name, name+"-int8")
	}
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			name, int8 := strings.CutSuffix(kind, "-int8")
			path, size := writePublished(b, name, int8)
			b.ResetTimer()
			for b.Loop() {
				if _, err := Open(path, nil); err != nil {
					b.Fatal(err)
				}
			}
			cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkOpen$", "-test.benchtime=1x")
			cmd.Env = slices.Concat(os.Environ(), []string{"SSL_RESIDENT=" + path})
			out, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			var kb int64
			if _, err := fmt.Sscanf(string(regexp.MustCompile(`VmHWM:\s*[0-9]+`).Find(out)), "VmHWM: %d", &kb); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			b.ReportMetric(float64(kb*1024)/float64(size), "resident/weights")
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
}
