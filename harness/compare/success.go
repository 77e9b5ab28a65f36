package compare

import (
	"fmt"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// differences are the new side's pass rate less the old one's, of each scenario.
func (j *judge) differences() []float64 {
	out := make([]float64, len(j.clusters))
	for i, cluster := range j.clusters {
		for _, p := range cluster {
			out[i] += (rate(p.b) - rate(p.a)) / float64(len(cluster))
		}
	}
	return out
}

// success asks whether the new side passes as often, but for the margin.
func (j *judge) success(a *Answer) {
	worse, better := j.turned()
	switch {
	case len(j.exact)+len(j.sampled) == 0:
		a.State, a.Text = Open, "no scenario can be compared: none has a run on both sides that can be judged"
		return
	case len(j.sampled) == 0:
		a.State, a.N = Held, len(j.exact)
		a.Text = fmt.Sprintf("exact, from the same recordings: %s, %d passing that did not before", number(len(j.exact), "scenario"), len(better))
	default:
		j.sampledSuccess(a)
	}
	if len(worse) > 0 {
		a.State, a.Where, a.P = Breached, worse, nil
		a.Text = fmt.Sprintf("%s passed on the same recordings before, and not now: %s", number(len(worse), "scenario"), listed(worse))
	}
}

// turned are the exact pairs of which one side passed alone.
func (j *judge) turned() (worse, better []string) {
	for _, p := range j.exact {
		switch before, now := rate(p.a), rate(p.b); {
		case before > now:
			worse = append(worse, p.shown())
		case before < now:
			better = append(better, p.shown())
		}
	}
	return worse, better
}

// sampledSuccess is non-inferiority: the whole interval of the difference above the
// margin keeps, all of it below reverts.
func (j *judge) sampledSuccess(a *Answer) {
	d, r := j.differences(), j.rubric
	sum, in := stats.PairsOf(d), stats.Difference(d, r.Confidence)
	a.N, a.Clusters, a.Estimate = j.trials(), len(d), new(sum.Mean)
	a.Text = fmt.Sprintf("pass rate %s over %s", signed(sum.Mean), number(len(d), "scenario"))
	square := squareOf(d)
	if len(d) < 2 {
		square = j.squareOfOne(d[0])
		a.State = Open
		a.Text += "; of one scenario it is not known how others would differ"
	} else {
		a.Lo, a.Hi, a.P = new(in.Lo), new(in.Hi), new(stats.Below(d, -a.Threshold))
		a.Detectable = new(stats.DetectableDifference(d, r.Confidence, r.Power))
		a.Text += fmt.Sprintf(", %s interval %s to %s, margin %s; smallest difference that so much data shows: %s",
			percent(r.Confidence), signed(in.Lo), signed(in.Hi), signed(-a.Threshold), short(*a.Detectable))
		a.State = between(in, -a.Threshold)
		worse, better := discordant(d)
		p := stats.McNemar(worse, better)
		a.Difference = &p
		a.Text += fmt.Sprintf("; %d worse, %d better, exact McNemar p = %s", worse, better, short(p))
	}
	if a.State == Open {
		need := stats.PairsToDecide(sum.Mean, square, -a.Threshold, r.Confidence, r.Power)
		a.further(need, len(d))
	}
}

// between reads an interval against a limit that has to be below it.
func between(in stats.Interval, limit float64) State {
	switch {
	case in.Lo > limit:
		return Held
	case in.Hi < limit:
		return Breached
	default:
		return Open
	}
}

func discordant(d []float64) (worse, better int) {
	for _, v := range d {
		switch {
		case v < 0:
			worse++
		case v > 0:
			better++
		}
	}
	return worse, better
}

func squareOf(d []float64) float64 {
	squares := make([]float64, len(d))
	for i, v := range d {
		squares[i] = v * v
	}
	return stats.Mean(squares)
}

// squareOfOne is what the square of a difference would be on average if further
// scenarios were like the one: its own, and what chance adds among its trials,
// with one pass and one failure added to each side.
func (j *judge) squareOfOne(d float64) float64 {
	square := d * d
	cluster := j.clusters[0]
	for _, p := range cluster {
		square += (chance(p.a) + chance(p.b)) / float64(len(cluster)*len(cluster))
	}
	return min(square, 1)
}

// chance is the variance of a rate.
func chance(samples []sample) float64 {
	n := float64(len(samples))
	p := (rate(samples)*n + 1) / (n + 2)
	return p * (1 - p) / n
}

func (j *judge) trials() int {
	n := 0
	for _, p := range j.sampled {
		n += len(p.a) + len(p.b)
	}
	return n
}

// further says how much more data would decide.
func (a *Answer) further(need, have int) {
	if need >= stats.MostPairs {
		a.Text += "; what was seen lies at the limit itself, and no amount of data like it decides"
		return
	}
	a.Further = max(need-have, 1)
	a.Text += fmt.Sprintf("; about %s more would decide, if they are like those seen", number(a.Further, "scenario"))
}
