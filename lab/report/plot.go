package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/voicescreen/voicescreen/internal/stats"
)

const plotSide = 4 * vg.Inch

var (
	ink  = color.RGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0xff}
	pale = color.RGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}
)

// svg draws a plot as an element for a page.
func svg(p *plot.Plot, width, height vg.Length) (string, error) {
	c := vgsvg.New(width, height)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	if i := strings.Index(s, "<svg"); i > 0 { // without the declaration of a file
		s = s[i:]
	}
	return s, nil
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	return p
}

// line adds a line through the points, or points that are joined if marked.
func line(p *plot.Plot, xy plotter.XYs, c color.Color, marked bool) error {
	if len(xy) == 0 {
		return nil
	}
	if marked {
		l, s, err := plotter.NewLinePoints(xy)
		if err != nil {
			return err
		}
		l.Color, s.Color, s.Shape = c, c, draw.CircleGlyph{}
		p.Add(l, s)
		return nil
	}
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.Color = c
	p.Add(l)
	return nil
}

func unitSquare(p *plot.Plot) { p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1 }

func (r *Report) rocPlot() (*plot.Plot, error) {
	p := newPlot("ROC", "false alarms", "detected")
	unitSquare(p)
	var xy plotter.XYs
	for _, q := range stats.ROC(r.scores, r.positive) {
		xy = append(xy, plotter.XY{X: q.FalsePositive, Y: q.TruePositive})
	}
	if err := line(p, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, pale, false); err != nil {
		return nil, err
	}
	return p, line(p, xy, ink, false)
}

// detTicks are the shares that stand on the axes of the detection error
// trade-off, which are in normal deviates (Martin et al. 1997).
var detTicks = []float64{0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9}

func (r *Report) detPlot() (*plot.Plot, error) {
	p := newPlot("Detection error trade-off", "false alarms", "missed")
	var ticks plot.ConstantTicks
	for _, t := range detTicks {
		ticks = append(ticks, plot.Tick{Value: distuv.UnitNormal.Quantile(t), Label: fmt.Sprintf("%g %%", 100*t)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
	low, high := ticks[0].Value-0.3, ticks[len(ticks)-1].Value
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
	var xy plotter.XYs
	for _, q := range stats.ROC(r.scores, r.positive) {
		x, y := distuv.UnitNormal.Quantile(q.FalsePositive), distuv.UnitNormal.Quantile(1-q.TruePositive)
		xy = append(xy, plotter.XY{X: min(max(x, low), high), Y: min(max(y, low), high)})
	}
	if err := line(p, plotter.XYs{{X: low, Y: low}, {X: high, Y: high}}, pale, false); err != nil {
		return nil, err
	}
	return p, line(p, xy, ink, false)
}

// bars is points with intervals.
type bars struct {
	plotter.XYs
	low, high []float64
}

func (b bars) YError(i int) (float64, float64) { return b.XYs[i].Y - b.low[i], b.high[i] - b.XYs[i].Y }
func (b bars) XError(i int) (float64, float64) { return b.XYs[i].X - b.low[i], b.high[i] - b.XYs[i].X }

func (r *Report) calibrationPlot() (*plot.Plot, error) {
	p := newPlot("Calibration", "probability", "share of positives")
	unitSquare(p)
	var b bars
	for _, bin := range r.Reliability {
		if bin.Positive.N > 0 {
			b.XYs = append(b.XYs, plotter.XY{X: float64(bin.Probability), Y: float64(bin.Positive.Value)})
			b.low, b.high = append(b.low, float64(bin.Positive.Low)), append(b.high, float64(bin.Positive.High))
		}
	}
	if err := line(p, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, pale, false); err != nil || len(b.XYs) == 0 {
		return p, err
	}
	e, err := plotter.NewYErrorBars(b)
	if err != nil {
		return nil, err
	}
	e.Color = pale
	p.Add(e)
	return p, line(p, b.XYs, ink, true)
}

// groupPlot shows the AUC of each group with its interval, nil if there is
// none.
func (r *Report) groupPlot() (*plot.Plot, vg.Length, error) {
	var b bars
	var names []string
	for _, g := range r.Groups {
		if g.Suppressed || math.IsNaN(float64(g.AUC)) {
			continue
		}
		b.XYs = append(b.XYs, plotter.XY{X: float64(g.AUC)})
		b.low, b.high = append(b.low, float64(g.Interval.Low)), append(b.high, float64(g.Interval.High))
		names = append(names, g.Name)
	}
	if len(names) == 0 {
		return nil, 0, nil
	}
	ticks := make(plot.ConstantTicks, len(names))
	for i := range names {
		b.XYs[i].Y = float64(len(names) - i) // the first on top
		ticks[i] = plot.Tick{Value: b.XYs[i].Y, Label: names[i]}
	}
	p := newPlot("AUC by group", "AUC", "")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0.5, float64(len(names))+0.5
	p.Y.Tick.Marker = ticks
	e, err := plotter.NewXErrorBars(b)
	if err != nil {
		return nil, 0, err
	}
	s, err := plotter.NewScatter(b.XYs)
	if err != nil {
		return nil, 0, err
	}
	e.Color, s.Color, s.Shape = ink, ink, draw.CircleGlyph{}
	p.Add(e, s)
	half := plotter.XYs{{X: 0.5, Y: p.Y.Min}, {X: 0.5, Y: p.Y.Max}}
	return p, vg.Length(len(names))*0.3*vg.Inch + vg.Inch, line(p, half, pale, false)
}
