package harness

import (
	"fmt"
	"net/http"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// addresses refuses a fault at a place that the recordings do not have: it could
// never strike. Where the run may go on beyond them nobody knows.
func (w *world) addresses() error {
	v := w.params.Variant
	if v == nil || w.params.Unread || v.OnDivergence == scenario.DivergeScript || w.regenerations() > 0 {
		return nil
	}
	for n := range v.Faults {
		s := &v.Faults[n]
		key, why := w.noSuchPlace(s)
		if why == "" || makesPlaces(v.Faults, n) {
			continue
		}
		part := v.Part
		if n > 0 {
			part += fmt.Sprintf(".and[%d]", n-1)
		}
		return failure.Errorf(failure.ScenarioInvalid, "%s: %s strikes %s: %s", w.params.Scenario.Place(part+".at."+key), s.Name, s.At, why)
	}
	return nil
}

// makesPlaces tells whether another fault of the run than the n-th may lead to
// calls that nobody recorded.
func makesPlaces(specs []fault.Spec, n int) bool {
	for i := range specs {
		if f, ok := fault.Lookup(specs[i].Name); ok && i != n && (f.Seen || f.Lasting) {
			return true
		}
	}
	return false
}

// noSuchPlace says what is wrong with a fault's address, and which part of it.
func (w *world) noSuchPlace(s *fault.Spec) (key, why string) {
	f, ok := fault.Lookup(s.Name)
	switch {
	case !ok || s.At.Call < 0 || s.At.Call == 0 && s.At.Event == 0:
		return "", ""
	case f.Side() == fault.SideModel && w.modelRecording != nil:
		return w.noSuchAnswer(s)
	case f.Side() == fault.SideTool && w.tools != nil && w.params.Executors[s.At.Tool] == nil:
		if n := w.tools.Recorded(s.At.Tool); s.At.Call > n {
			return "call", "the recording has " + plural(n, "call", "calls") + of(s.At.Tool) + "; name an earlier one"
		}
	}
	return "", ""
}

func of(tool string) string {
	if tool == "" {
		return " of tools"
	}
	return " of " + tool
}

func (w *world) noSuchAnswer(s *fault.Spec) (key, why string) {
	var good []*cassette.Response
	for i := range w.modelRecording.Interactions {
		if r := &w.modelRecording.Interactions[i].Response; r.Code < http.StatusBadRequest && r.Code > 0 {
			good = append(good, r)
		}
	}
	if s.At.Call == 0 {
		return "event", w.noSuchEvent(s.At.Event, good)
	}
	if s.At.Call > len(good) {
		return "call", "the recording has " + plural(len(good), "model call", "model calls") + "; name an earlier one"
	}
	if n := len(sse.Ends(good[s.At.Call-1].Body)); s.At.Event > n {
		return "event", "the recorded answer has " + plural(n, "event", "events") + "; name an earlier one"
	}
	return "", ""
}

// noSuchEvent says that no recorded answer has so many events; "" when one has.
func (w *world) noSuchEvent(event int, good []*cassette.Response) string {
	most := 0
	for _, r := range good {
		most = max(most, len(sse.Ends(r.Body)))
	}
	if event <= most {
		return ""
	}
	return "no recorded answer has more than " + plural(most, "event", "events") + "; name an earlier one"
}
