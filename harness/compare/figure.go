package compare

import (
	"fmt"
	"math"

	"github.com/retake-harness/retake/harness/internal/stats"
)

// figureNames are for people, in the order of the figures.
var figureNames = [figureCount]string{"cost", "tool cost", "tokens", "input tokens", "output tokens", "latency", "model calls", "tool calls"}

// figure asks whether a figure stays below its highest ratio of new to old.
func (j *judge) figure(a *Answer, f figure) {
	logs, lacking := j.logs(f)
	old, now, exact, gaps := j.exactSums(f)
	lacking = append(lacking, gaps...)
	switch {
	case len(logs) == 0 && exact == 0 && len(lacking) == 0:
		a.State, a.Text = Unknown, figureNames[f]+" is known on neither side"
		if f == latency {
			a.Text = "there is none to compare: on a real clock it is never the same twice, and one recording says nothing of how it varies"
		}
		return
	case len(logs) == 0 && exact == 0:
		a.State = Open
	case len(logs) == 0:
		a.Estimate, a.N = new(ratio(old, now)), exact
		a.Text = fmt.Sprintf("%s, exact, over %s: %s to %s", times(*a.Estimate), number(exact, "scenario"), amount(f, old), amount(f, now))
		a.State = within(*a.Estimate, a.Threshold)
	default:
		j.sampledFigure(a, logs)
		if r := ratio(old, now); exact > 0 && r > a.Threshold {
			a.State, a.P = Breached, nil
			a.Text = fmt.Sprintf("%s, exact, over the %s that replay the same recordings; %s", times(r), number(exact, "scenario"), a.Text)
		}
	}
	finite(a)
	if len(lacking) > 0 {
		a.Text = joined(a.Text, fmt.Sprintf("not known on one side in %s: %s", number(len(lacking), "scenario"), listed(lacking)))
		a.Where = lacking
		if a.State == Held {
			a.State = Open
		}
	}
}

// finite leaves out what JSON cannot say.
func finite(a *Answer) {
	for _, p := range []**float64{&a.Estimate, &a.Lo, &a.Hi, &a.Detectable} {
		if *p != nil && (math.IsInf(**p, 0) || math.IsNaN(**p)) {
			*p = nil
		}
	}
}

func within(r, threshold float64) State {
	if r > threshold {
		return Breached
	}
	return Held
}

// exactSums adds a figure up over the exact pairs; lacking are those of which one
// side does not know it.
func (j *judge) exactSums(f figure) (old, now float64, n int, lacking []string) {
	for _, p := range j.exact {
		before, after := median(p.a, f), median(p.b, f)
		switch {
		case f == latency && p.real: // of the tools, which ran for real: no fact
		case math.IsNaN(before) && math.IsNaN(after):
		case math.IsNaN(before) || math.IsNaN(after):
			lacking = append(lacking, p.shown())
		default:
			old, now, n = old+before, now+after, n+1
		}
	}
	return old, now, n, lacking
}

// logs are the logarithms of the new median over the old one, of each scenario
// that is sampled.
func (j *judge) logs(f figure) (out []float64, lacking []string) {
	for _, cluster := range j.clusters {
		sum, n := 0.0, 0
		for _, p := range cluster {
			before, after := median(p.a, f), median(p.b, f)
			switch {
			case math.IsNaN(before) && math.IsNaN(after):
			case math.IsNaN(before) || math.IsNaN(after):
				lacking = append(lacking, p.shown())
			default:
				sum, n = sum+math.Log(ratio(before, after)), n+1
			}
		}
		if n > 0 && !math.IsNaN(sum) { // from nothing to something, and the other way round
			out = append(out, sum/float64(n))
		}
	}
	return out, lacking
}

// ratio is 1 of nothing to nothing.
func ratio(old, now float64) float64 {
	if old == now {
		return 1
	}
	return now / old
}

// sampledFigure is about the median of the scenarios' ratios, with its interval by
// order statistics: nothing is assumed of how they are distributed.
func (j *judge) sampledFigure(a *Answer, logs []float64) {
	r := j.rubric
	limit := math.Log(a.Threshold)
	middle, in := stats.Median(logs, r.Confidence)
	above, other := 0, 0
	for _, v := range logs {
		if v > limit {
			above++
		}
		if v != limit {
			other++
		}
	}
	a.N, a.Clusters = j.trials(), len(logs)
	a.Estimate, a.Lo, a.Hi = new(math.Exp(middle)), new(math.Exp(in.Lo)), new(math.Exp(in.Hi))
	a.P = new(stats.AtLeast(above, other))
	a.Text = fmt.Sprintf("%s in the median of %s, %s interval %s, at most %s", times(*a.Estimate), number(len(logs), "scenario"),
		percent(r.Confidence), span(in), times(a.Threshold))
	if p, ok := stats.SignFlip(logs, r.Seed); ok {
		a.Difference = &p
	}
	switch {
	case in.Lo > limit:
		a.State = Breached
	case in.Hi <= limit:
		a.State = Held
	default:
		a.State = Open
	}
	j.figurePower(a, logs, middle, limit)
}

// figurePower tells what so much data can show, and how much would decide.
func (j *judge) figurePower(a *Answer, logs []float64, middle, limit float64) {
	r := j.rubric
	sd := math.Sqrt(stats.Variance(logs))
	spread := !math.IsNaN(sd) && !math.IsInf(sd, 0)
	if spread {
		if d := math.Exp(stats.MedianDetectable(sd, len(logs), r.Confidence, r.Power)); !math.IsInf(d, 0) {
			a.Detectable = &d
			a.Text += "; smallest change that so much data shows: " + times(d)
		}
	}
	if a.State != Open {
		return
	}
	if !spread {
		sd = 0 // of one scenario nothing is known but how many it takes at the least
	}
	a.further(stats.MedianPairs(sd, middle-limit, r.Confidence, r.Power), len(logs))
}
