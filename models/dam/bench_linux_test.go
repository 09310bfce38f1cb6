package dam

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

var torch = flag.String("torch", "", "the Python interpreter, which has PyTorch, for BenchmarkTorch")

// BenchmarkChunk is a chunk at the published shape through both encoders, in each form of
// the weights in turns, on one and two goroutines: seconds of processor time, and of the
// clock, in the fastest of the turns.
func BenchmarkChunk(b *testing.B) {
	if testing.Short() {
		b.Skip("2 GB and many seconds")
	}
	names, networks := []string{"float32", "int8"}, []*Network{}
	if gemm.FastPairs() {
		names = append(names, "bfloat16")
	}
	for _, name := range names {
		n, err := load(Published, readSeeded, name == "bfloat16", name == "int8")
		if err != nil {
			b.Fatal(err)
		}
		networks = append(networks, n)
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			used, clock := map[string]float64{}, map[string]float64{}
			for first := true; b.Loop(); first = false {
				for k, name := range names {
					w := newWorkspace(Published, threads, networks[k].paired)
					start, begin := cpu(b), time.Now()
					runChunk(b, networks[k], w)
					seconds, elapsed := (cpu(b) - start).Seconds(), time.Since(begin).Seconds()
					if first || seconds < used[name] {
						used[name] = seconds
					}
					if first || elapsed < clock[name] {
						clock[name] = elapsed
					}
				}
			}
			for _, name := range names {
				b.ReportMetric(used[name], name+"-cpu-s")
				b.ReportMetric(clock[name], name+"-s")
			}
			b.ReportMetric(used["float32"]/used["int8"], "float32/int8")
		})
	}
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func runChunk(b *testing.B, n *Network, w *workspace) {
	dst := make([]float32, Published.Width)
	w.setMel(chunkMel(), Published.Mels)
	for i := range n.encoders {
		if err := n.encoders[i].run(context.Background(), w, dst); err != nil {
			b.Fatal(err)
		}
	}
}

// chunkMel returns the spectrum of the benchmark.
var chunkMel = sync.OnceValue(func() []float32 { return seededMel(Published, 0) })

// BenchmarkTorch is the same chunk in PyTorch: the fastest of the runs that
// testdata/make.py makes after one another.
func BenchmarkTorch(b *testing.B) {
	if *torch == "" {
		b.Skip("PyTorch is timed with -torch")
	}
	seconds := regexp.MustCompile(`([0-9.]+) s per 30 s chunk`)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			fastest := math.Inf(1)
			for b.Loop() {
				out, err := exec.Command(*torch, "testdata/make.py", "time", strconv.Itoa(threads)).CombinedOutput()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				for _, match := range seconds.FindAllSubmatch(out, -1) {
					s, err := strconv.ParseFloat(string(match[1]), 64)
					if err != nil {
						b.Fatal(err)
					}
					fastest = min(fastest, s)
				}
			}
			b.ReportMetric(fastest, "s/chunk")
		})
	}
}
