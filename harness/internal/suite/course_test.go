package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// openFaulted is a project of two scenarios, of which a declares runs under faults.
func openFaulted(t *testing.T) *suite.Suite {
	t.Helper()
	s := open(t, "a", "b")
	path := filepath.Join(s.Dirs.Scenarios, "a.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	faults := "faults: [{fault: model.reset}, {fault: model.overloaded, id: busy, at: {call: 2}}]\n"
	if err := os.WriteFile(path, append(text, faults...), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// runs tells each result as scenario, model and faults.
func runs(t *testing.T, s *suite.Suite, ctx context.Context, o suite.Options) ([]string, error) {
	t.Helper()
	var got []string
	err := s.Run(ctx, s.Names(), options(o, func(string) error { return nil }), func(r *harness.Result) error {
		line := strings.TrimSpace(r.Name + " " + r.Model + " " + r.Variant)
		if r.Verdict == harness.NotRun {
			line += " " + string(r.Verdict)
		}
		got = append(got, line)
		return nil
	})
	return got, err
}

func TestCourses(t *testing.T) {
	for _, tc := range []struct {
		why    string
		faults []string
		want   string
	}{
		{"without, and then all that the scenario declares", nil, "a m-1, a m-1 model.reset, a m-1 busy, b m-1"},
		{"an id is that run alone", []string{"busy"}, "a m-1 busy"},
		{"several ids, in the scenario's order", []string{"busy", "model.reset"}, "a m-1 model.reset, a m-1 busy, b m-1 model.reset"},
		{"faults are one run together", []string{"model.reset@call=1", "model.overloaded@call=2"}, "a m-1 model.reset@call=1 model.overloaded@call=2, b m-1 model.reset@call=1 model.overloaded@call=2"},
		{"a fault that the scenario has no place for", []string{"model.truncated_stream"}, "a m-1 model.truncated_stream, b m-1 model.truncated_stream"},
	} {
		for _, parallel := range []int{1, 4} {
			s := openFaulted(t)
			got, err := runs(t, s, t.Context(), suite.Options{Models: []string{"m-1"}, Faults: tc.faults, Parallel: parallel})
			if err != nil {
				t.Errorf("%s: %v", tc.why, err)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%s, %d at once (-want +got):\n%s", tc.why, parallel, diff)
			}
			if err := s.CheckNames(suite.Options{Faults: tc.faults}); err != nil {
				t.Errorf("%s: %v", tc.why, err)
			}
		}
	}
}

// What was not run is told for each run under faults, too.
func TestCoursesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := runs(t, openFaulted(t), ctx, suite.Options{Models: []string{"m-2"}})
	want := []string{"a m-2 not_run", "a m-2 model.reset not_run", "a m-2 busy not_run", "b m-2 not_run"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFaultsThatAreNone(t *testing.T) {
	s := openFaulted(t)
	if _, err := runs(t, s, t.Context(), suite.Options{Faults: []string{"model.reset@cal=1"}}); failure.Of(err) != failure.ScenarioInvalid || !strings.Contains(err.Error(), `unknown key "cal"`) {
		t.Errorf("got %v", err)
	}
	o := suite.Options{Faults: []string{"bsuy"}}
	if got, err := runs(t, s, t.Context(), o); err != nil || got != nil {
		t.Errorf("ran %v, %v", got, err)
	}
	want := `"bsuy" is no fault, and no selected scenario has a run under faults of that id (did you mean "busy"?); see: retake faults`
	if err := s.CheckNames(o); failure.Of(err) != failure.ScenarioInvalid || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
