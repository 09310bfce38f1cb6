package learn

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestAdaptFindsTheDrift draws people whose norms are known.
func TestAdaptFindsTheDrift(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	free := []int{0, numWays}
	for _, c := range []struct {
		people      int
		shift, rest float64 // greatest difference of centers, and of logarithms of scales
		correlation float64
	}{{60, 0.5, 0.4, math.Inf(1)}, {200, 0.35, 0.3, 0.35}, {cost.Sized(8000, 2000), cost.Sized(0.08, 0.16), cost.Sized(0.06, 0.12), cost.Sized(0.08, 0.16)}} {
		drift := &crowd{shift: 0.5, scale: 1.3, correlation: other(prior), unsexed: 5}
		got := adapt(t, prior, drift.voices(t, prior, c.people, 1), nil)
		most, mean := off(prior, got.File, 0.5, 1.3, free...)
		r := correlationOff(got.File.Correlation, drift.correlation)
		t.Logf("%d people: most %.3f, mean %.3f, correlation %.3f, gain %+v", c.people, most, mean, r, got.Gain)
		if most[0] > c.shift || most[1] > c.rest || r > c.correlation {
			t.Errorf("%d people: centers up to %.3f off, scales %.3f, correlations %.3f, want at most %.2f, %.2f, %.2f", c.people, most[0], most[1], r, c.shift, c.rest, c.correlation)
		}
		if !got.Better || got.Correlated != (c.people >= LeastCorrelated) || math.Abs(got.Moved-0.5) > 0.15 {
			t.Errorf("%d people: got Better %v, Correlated %v, Moved %.2f, want true, %v, 0.5", c.people, got.Better, got.Correlated, got.Moved, c.people >= LeastCorrelated)
		}
		if got.File.Adapted.People != c.people || got.File.Adapted.Sessions != c.people {
			t.Errorf("got %+v, want %d people", got.File.Adapted, c.people)
		}
	}
}

// TestAdaptKeepsWhatIsRight draws people of the norms themselves. The standard error of
// a center is 0.14 with 50 people of a sex; 0.55 is four of them.
func TestAdaptKeepsWhatIsRight(t *testing.T) {
	t.Parallel()
	populations := cost.Sized(40, 8)
	prior := shippedFile(t, screen.Depression)
	var better int
	for rep := range populations {
		got := adapt(t, prior, (&crowd{scale: 1, unsexed: 5}).voices(t, prior, 100, uint64(rep)), nil)
		most, _ := off(prior, got.File, 0, 1, 0, numWays)
		if got.Better {
			better++
		}
		if most[0] > 0.55 || most[1] > 0.35 {
			t.Errorf("population %d: centers moved up to %.2f, scales %.2f, want little", rep, most[0], most[1])
		}
	}
	t.Logf("%d of %d got new norms", better, populations)
	if better > populations/4 {
		t.Errorf("%d of %d ordinary populations got new norms, want at most a quarter", better, populations)
	}
}

// TestAdaptSharesBetweenWays moves free speech only: reading, without a recording,
// gets what the ways share, and stays where there are recordings of it.
func TestAdaptSharesBetweenWays(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	reading := []int{int(screen.Reading) - 1, numWays + int(screen.Reading) - 1}
	free := (&crowd{shift: 0.6, scale: 1}).voices(t, prior, 400, 2)
	got := adapt(t, prior, free, nil)
	// Both sexes differ alike, so that ways are expected to differ little.
	if _, mean := off(prior, got.File, 0.58, 1, reading...); math.Abs(mean[0]) > 0.04 {
		t.Errorf("reading without recordings: got a mean shift of %.3f, want 0.58", mean[0]+0.58)
	}
	read := (&crowd{scale: 1, ways: []screen.Speech{screen.Reading}}).voices(t, prior, 400, 3)
	for i := range read {
		read[i].User += " reads"
	}
	got = adapt(t, prior, append(free, read...), nil)
	if _, mean := off(prior, got.File, 0, 1, reading...); math.Abs(mean[0]) > 0.05 {
		t.Errorf("reading with recordings: got a mean shift of %.3f, want 0", mean[0])
	}
	if _, mean := off(prior, got.File, 0.6, 1, 0, numWays); math.Abs(mean[0]) > 0.05 {
		t.Errorf("free speech: got a mean shift of %.3f, want 0.6", mean[0]+0.6)
	}
}

// TestAdaptLeavesOutTheSamplingError draws short recordings of people of the norms: the
// spread of the norms is that of people, not of recordings.
func TestAdaptLeavesOutTheSamplingError(t *testing.T) {
	t.Parallel()
	prior := *shippedFile(t, screen.Depression)
	prior.Features = slices.Clone(prior.Features)
	for i := range prior.Features {
		prior.Features[i].Sampling = models.Sampling{Variance: 0.4, Falls: 1}
	}
	got := adapt(t, &prior, (&crowd{scale: 1, seconds: prior.SampledAt / 2}).voices(t, &prior, 4000, 4), nil)
	most, mean := off(&prior, got.File, 0, 1, 0, numWays)
	if math.Abs(mean[1]) > 0.03 || most[1] > 0.1 {
		t.Errorf("got scales %.3f off in the mean and up to %.3f, want those of the norms", mean[1], most[1])
	}
	if r := correlationOff(got.File.Correlation, prior.Correlation); r > 0.12 {
		t.Errorf("got correlations up to %.3f off, want those of the norms", r)
	}
}

// TestAdaptAllowsForTheBaseRate draws people of whom more are ill than in the norms'
// population: with the base rate the prior expects their means where they are.
func TestAdaptAllowsForTheBaseRate(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	b := scorerOf(t, prior)
	p0 := shareOf(b)
	if math.Abs(p0-0.08) > 0.002 {
		t.Fatalf("got a base rate of the shipped model of %.4f, want 0.080", p0)
	}
	a := newAdapter(b, nil, 0.5)
	none, _, _, err := a.estimate(nil)
	if err != nil {
		t.Fatal(err)
	}
	ill := &crowd{scale: 1, more: make([]float64, len(prior.Features))}
	for i, x := range prior.Features {
		var d float64
		for j, y := range prior.Features {
			d += prior.Correlation[i][j] * y.Weight
		}
		got := (none.Features[i].Norms.Free.Female.Center - x.Norms.Free.Female.Center) / x.Norms.Free.Female.Scale
		if want := (0.5 - p0) * d; math.Abs(got-want) > 1e-5 {
			t.Errorf("%s without recordings: got a shift of %.5f, want %.5f", x.Name, got, want)
		}
		ill.more[i] = (0.5 - p0) * d
	}
	var with, without float64 // squared differences of centers from the truth
	for seed := range uint64(20) {
		voices := ill.voices(t, prior, LeastPeople, seed)
		for rate, sum := range map[float64]*float64{0: &without, 0.5: &with} {
			f := adapt(t, prior, voices, &AdaptOptions{BaseRate: rate}).File
			for i := range f.Features {
				d := (f.Features[i].Norms.Free.Female.Center-prior.Features[i].Norms.Free.Female.Center)/prior.Features[i].Norms.Free.Female.Scale - ill.more[i]
				*sum += d * d
			}
		}
	}
	if !(with < without) {
		t.Errorf("got squared differences of the centers of %.3f with the base rate and %.3f without it, want less", with, without)
	}
	voices := (&crowd{scale: 1}).voices(t, prior, 60, 5)
	n := len(prior.Features)
	unknown, stated := adapt(t, prior, voices, nil), adapt(t, prior, voices, &AdaptOptions{BaseRate: 0.3})
	for _, f := range []*models.BayesFile{unknown.File, stated.File} {
		if v := math.Sqrt(f.Covariance[n][n]); math.Abs(v-1.19) > 0.01 {
			t.Errorf("got a standard deviation of the threshold of %.3f, want 1.19", v)
		}
	}
	known, err := scorerOf(t, stated.File).WithBaseRate(0.3)
	if err != nil {
		t.Fatal(err)
	}
	if v := math.Sqrt(known.File().Covariance[n][n]); v > 0.25 || stated.File.Adapted.BaseRate != 0.3 || unknown.File.Adapted.BaseRate != 0 {
		t.Errorf("with a base rate: got a standard deviation of the threshold of %.3f and %+v, want that of a known share, and the rate of 0.3", v, stated.File.Adapted)
	}
	if got := shareOf(scorerOf(t, unknown.File)); math.Abs(got-p0) > 1e-4 {
		t.Errorf("got a base rate of %.5f under the new norms, want that of the prior, %.5f", got, p0)
	}
}

// TestAdaptOneVoteEach says that what one person does is bounded, in one recording or
// in many.
func TestAdaptOneVoteEach(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	voices := (&crowd{scale: 1}).voices(t, prior, 100, 6)
	before := adapt(t, prior, voices, nil).File
	for _, far := range []float64{3, 50, 1e6} {
		for _, times := range []int{1, 300} {
			odd := (&crowd{shift: far, scale: 1}).voices(t, prior, times, 7)
			for i := range odd {
				odd[i].User = "one"
			}
			after := adapt(t, prior, append(slices.Clone(voices), odd...), nil).File
			most, _ := off(before, after, 0, 1, 0, numWays)
			if most[0] > 0.1 || most[1] > 0.1 {
				t.Errorf("one person at %g with %d recordings among 100: centers moved up to %.3f, scales %.3f, want at most 0.1", far, times, most[0], most[1])
			}
			if r := correlationOff(before.Correlation, after.Correlation); r > 0.1 {
				t.Errorf("one person at %g with %d recordings among 100: correlations moved up to %.3f, want at most 0.1", far, times, r)
			}
		}
	}
	thrice := append(append(slices.Clone(voices), voices...), voices...)
	again := adapt(t, prior, thrice, nil)
	if most, _ := off(before, again.File, 0, 1, 0, numWays); most[0] > 1e-6 || most[1] > 1e-6 {
		t.Errorf("each recording three times: centers moved %g, scales %g, want none", most[0], most[1])
	}
	if a := again.File.Adapted; a.People != 100 || a.Sessions != 300 {
		t.Errorf("got %+v, want 100 people with 300 recordings", a)
	}
}

// TestAdaptFollowsPermutationAndScale says that neither the order of the recordings
// nor the unit of a feature matters.
func TestAdaptFollowsPermutationAndScale(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	voices := (&crowd{shift: 0.4, scale: 1.2, unsexed: 5}).voices(t, prior, 120, 8)
	want := adapt(t, prior, voices, nil)
	turned := slices.Clone(voices)
	slices.Reverse(turned)
	got := adapt(t, prior, turned, nil)
	if most, _ := off(want.File, got.File, 0, 1, 0, numWays); most[0] > 1e-5 || most[1] > 1e-5 || correlationOff(want.File.Correlation, got.File.Correlation) > 1e-5 {
		t.Errorf("in another order: got norms that differ by %g", most)
	}
	const unit = 1000 // of level.sd_db, which is not among the Sex features
	k := slices.IndexFunc(prior.Features, func(x models.BayesFeature) bool { return x.Name == "level.sd_db" })
	other := *prior
	other.Features = slices.Clone(prior.Features)
	for g := range numGroups {
		s := spreadOf(&other.Features[k], g)
		switch other.Features[k].Transform {
		case models.Identity:
			s.Center, s.Scale = s.Center*unit, s.Scale*unit
		case models.Log:
			s.Center += math.Log(unit)
		}
	}
	scaled := slices.Clone(voices)
	for i := range scaled {
		in := *scaled[i].Recording
		in.Features.Values = slices.Clone(in.Features.Values)
		in.Features.Values[in.Features.Schema.Index("level.sd_db")] *= unit
		scaled[i].Recording = &in
	}
	got = adapt(t, &other, scaled, nil)
	a, b := off2(prior, want.File, k), off2(&other, got.File, k)
	if math.Abs(a[0]-b[0]) > 1e-5 || math.Abs(a[1]-b[1]) > 1e-5 {
		t.Errorf("in another unit: got a shift and a scale of %v, want %v", b, a)
	}
}

// off2 returns shift and ratio of scales of feature k of women who speak freely.
func off2(prior, f *models.BayesFile, k int) [2]float64 {
	is, was := f.Features[k].Norms.Free.Female, prior.Features[k].Norms.Free.Female
	return [2]float64{(is.Center - was.Center) / was.Scale, is.Scale / was.Scale}
}

// TestAdaptHoldsOutliersBack has one person in ten who is not of the population.
func TestAdaptHoldsOutliersBack(t *testing.T) {
	t.Parallel()
	prior := shippedFile(t, screen.Depression)
	voices := (&crowd{shift: 0.5, scale: 1}).voices(t, prior, 360, 11)
	odd := (&crowd{shift: 8, scale: 3}).voices(t, prior, 40, 12)
	for i := range odd {
		odd[i].User += " odd"
	}
	got := adapt(t, prior, append(voices, odd...), nil)
	_, mean := off(prior, got.File, 0.5, 1, 0, numWays)
	t.Logf("centers %.3f off, logarithms of scales %.3f", mean[0], mean[1])
	if math.Abs(mean[0]) > 0.25 || math.Abs(mean[1]) > 0.3 { // the plain mean is 0.75 off, the spread 1.0
		t.Errorf("got centers %.3f off and scales %.3f, want at most 0.25 and 0.3", mean[0], mean[1])
	}
}

func TestAdaptOfNothingIsThePrior(t *testing.T) {
	prior := shippedFile(t, screen.Anxiety)
	a := newAdapter(scorerOf(t, prior), nil, 0)
	got, moved, correlated, err := a.estimate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if most, _ := off(prior, got, 0, 1, 0, 1, 2, 3, 4, 5); most[0] > 1e-6 || most[1] > 1e-6 || moved > 1e-6 || correlated {
		t.Errorf("got norms that differ by %g, moved by %g, want those of the prior", most, moved)
	}
	if correlationOff(got.Correlation, prior.Correlation) != 0 || !slices.Equal(got.Thresholds, prior.Thresholds) || !slices.Equal(got.Cuts, prior.Cuts) {
		t.Error("got another correlation, thresholds or cuts, want those of the prior")
	}
}

func TestAdaptErrors(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	b := scorerOf(t, prior)
	few := (&crowd{scale: 1}).voices(t, prior, LeastPeople-1, 9)
	if _, err := Adapt(t.Context(), prior, b, append(few, few...), nil); !errors.Is(err, ErrFewPeople) {
		t.Errorf("%d people: got error %v, want ErrFewPeople", len(few), err)
	}
	enough := (&crowd{scale: 1}).voices(t, prior, LeastPeople, 9)
	for _, rate := range []float64{-0.1, 1, math.NaN()} {
		if _, err := Adapt(t.Context(), prior, b, enough, &AdaptOptions{BaseRate: rate}); err == nil {
			t.Errorf("base rate %v: got no error", rate)
		}
	}
	enough[3].Recording = &features.Recording{}
	if _, err := Adapt(t.Context(), prior, b, enough, nil); !errors.Is(err, ErrVoice) {
		t.Errorf("without features: got error %v, want ErrVoice", err)
	}
}

// TestAdaptedFileNamesNobody writes and reads a file.
func TestAdaptedFileNamesNobody(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	voices := (&crowd{scale: 1}).voices(t, prior, 40, 10)
	for i := range voices {
		voices[i].Account, voices[i].User = "clinic-of-names", "name-"+voices[i].User
	}
	var text bytes.Buffer
	if err := adapt(t, prior, voices, nil).File.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clinic-of-names", "name-"} {
		if bytes.Contains(text.Bytes(), []byte(name)) {
			t.Errorf("the file holds %q", name)
		}
	}
	back, err := models.ReadBayes(&text)
	if err != nil || back.Adapted == nil || back.Adapted.People != 40 || back.Adapted.Accounts != 1 {
		t.Errorf("got %+v and error %v, want 40 people of one account", back.Adapted, err)
	}
}
