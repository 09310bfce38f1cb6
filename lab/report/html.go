package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/voicescreen/voicescreen/internal/stats"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"title": func(name string) string { return titles[name].name },
	"figure": func(name string, n stats.Number) string {
		if math.IsNaN(float64(n)) {
			return "–"
		}
		return fmt.Sprintf(titles[name].format, titles[name].factor*float64(n))
	},
	"three": three,
}).Parse(page))

// WriteHTML writes the report as one page with plots, which asks for no other
// file, no script and no host.
func (r *Report) WriteHTML(w io.Writer) error {
	v := struct {
		*Report
		Refusals string
		Plots    []template.HTML
	}{Report: r, Refusals: r.refusals()}
	add := func(p *plot.Plot, width, height vg.Length, err error) error {
		if err != nil || p == nil {
			return err
		}
		s, err := svg(p, width, height)
		v.Plots = append(v.Plots, template.HTML(s)) // our own drawing; gonum/plot escapes its text
		return err
	}
	if r.Positive > 0 && r.Positive < r.Rows {
		roc, err := r.rocPlot()
		if err := add(roc, plotSide, plotSide, err); err != nil {
			return err
		}
		det, err := r.detPlot()
		if err := add(det, plotSide, plotSide, err); err != nil {
			return err
		}
		calibration, err := r.calibrationPlot()
		if err := add(calibration, plotSide, plotSide, err); err != nil {
			return err
		}
		groups, height, err := r.groupPlot()
		if err := add(groups, 1.5*plotSide, height, err); err != nil {
			return err
		}
	}
	return pageTemplate.Execute(w, v)
}
