package dam

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/gemm"
)

var torch = flag.String("torch", "", "the Python interpreter, which has PyTorch, for BenchmarkTorch")

// BenchmarkChunk is a chunk at the published shape through both encoders, on
// one and two goroutines.
func BenchmarkChunk(b *testing.B) {
	if testing.Short() {
		b.Skip("1 GB and many seconds")
	}
	for _, paired := range []bool{false, true} {
		if paired && !gemm.FastPairs() {
			continue
		}
		n, err := load(Published, readSeeded, paired, false)
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			name := map[bool]string{false: "float32", true: "bfloat16"}[paired]
			b.Run(fmt.Sprintf("threads=%d/%s", threads, name), func(b *testing.B) {
				benchmarkChunk(b, n, threads)
			})
		}
	}
}

func benchmarkChunk(b *testing.B, n *Network, threads int) {
	w := newWorkspace(Published, threads, n.paired)
	mel, dst := seededMel(Published, 0), make([]float32, Published.Width)
	for b.Loop() {
		w.setMel(mel, Published.Mels)
		for i := range n.encoders {
			if err := n.encoders[i].run(context.Background(), w, dst); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/chunk")
}

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
