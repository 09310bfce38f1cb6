package prior

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// updateTable is the tables of a card that say what the samples changed: what each
// updated effect does to the AUC, if the updated effects are true, and what the group
// differences of each sample say of the weights before and after. Of samples that the
// effects are only compared with it says what they would change. It is empty without
// samples.
func updateTable(p *Prior, norms *Norms) string {
	brought, now := "brought up to date", "of the weights now | now, without the sample"
	if len(p.Against) > 0 {
		with := *p
		with.Samples, with.Against = slices.Concat(p.Samples, p.Against), nil
		p = &with
		brought, now = "would be brought up to date", "with the update | with it, without the sample"
	}
	if len(p.Samples) == 0 {
		return ""
	}
	return changes(p, norms, brought, now)
}

// changes is the tables of updateTable with the given words in their heads.
func changes(p *Prior, norms *Norms, brought, after string) string {
	before := *p
	before.Samples = nil
	old, errOld := before.share(norms)
	all, errAll := p.share(norms)
	if errOld != nil || errAll != nil {
		return "" // File said so
	}
	now := p.Current()
	truth := make([]float64, len(now))
	for i, e := range now {
		truth[i] = e.D
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | d before | d | AUC, if the updated effects are true |\n|---|---|---|---|\n| nothing | | | %.4f |\n", brought, p.auc(norms, old, truth))
	for i, e := range p.Effects {
		if now[i].D == e.D {
			continue
		}
		one := before
		one.Effects = slices.Clone(p.Effects)
		one.Effects[i] = now[i]
		if w, err := one.share(norms); err == nil {
			fmt.Fprintf(&b, "| `%s` alone | %s | %s | %.4f |\n", e.Feature, signed(e.D, 2), signed(now[i].D, 2), p.auc(norms, w, truth))
		}
	}
	fmt.Fprintf(&b, "| all | | | %.4f |\n", p.auc(norms, all, truth))
	fmt.Fprintf(&b, "\n| sample | features of it that have a weight | AUC of the weights before | %s |\n|---|---|---|---|---|\n", after)
	for _, name := range sampleNames(p.Samples) {
		d := make([]float64, len(now))
		var n int
		for i, e := range now {
			d[i] = math.NaN()
			for _, s := range p.Samples {
				if s.Name == name && s.Feature == e.Feature {
					d[i] = s.D
					n++
				}
			}
		}
		without := *p
		without.Samples = slices.DeleteFunc(slices.Clone(p.Samples), func(s Sample) bool { return s.Name == name })
		w, err := without.share(norms)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f | %.3f |\n", name, n, p.auc(norms, old, d), p.auc(norms, all, d), p.auc(norms, w, d))
	}
	return b.String()
}

// sampleNames returns the names of samples in their order.
func sampleNames(samples []Sample) []string {
	var names []string
	for _, s := range samples {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// auc returns the AUC of weights w for people whose features, which are normal with the
// correlations R of the norms, differ by d: Φ(w'd/√(2·w'Rw)). Features whose d is NaN
// are left out.
func (p *Prior) auc(norms *Norms, w, d []float64) float64 {
	var between, within float64
	for i, a := range p.Effects {
		if math.IsNaN(d[i]) {
			continue
		}
		between += w[i] * d[i]
		for j, b := range p.Effects {
			if !math.IsNaN(d[j]) {
				within += w[i] * w[j] * norms.correlation(a.Feature, b.Feature)
			}
		}
	}
	if within == 0 {
		return 0.5
	}
	return distuv.UnitNormal.CDF(between / math.Sqrt(2*within))
}
