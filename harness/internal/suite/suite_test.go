package suite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// open makes a project of scenarios that need no recording: what they come to
// is the agent's affair.
func open(t *testing.T, names ...string) *suite.Suite {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, "scenarios", filepath.FromSlash(name)+".yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "why: It is there.\nowner: us\nlabels: [" + filepath.Base(name) + "]\napi: anthropic-messages\ntask: Go.\nmodels: [m-1, m-2]\nexpect: {golden: false}\n"
		if strings.HasPrefix(filepath.Base(name), "broken") {
			text = "why:\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"m-1", "m-2"} {
			file := harness.ModelCassette(filepath.Join(dir, "cassettes"), name, m)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("version: 2\ninteractions: []\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := suite.Open(suite.Dirs{Root: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// options run f instead of an agent.
func options(o suite.Options, f func(name string) error) suite.Options {
	o.Agent = harness.Func(func(_ context.Context, env *harness.Env) (string, error) { return "", f(env.Scenario.Name) })
	return o
}

func names(t *testing.T, s *suite.Suite, ctx context.Context, o suite.Options) []string {
	t.Helper()
	var got []string
	err := s.Run(ctx, s.Names(), o, func(r *harness.Result) error {
		got = append(got, r.Name+" "+r.Model+" "+string(r.Verdict))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Results come in the order of names and models, however many run at once; a
// scenario that cannot be loaded is one of them.
func TestOrder(t *testing.T) {
	s := open(t, "b", "a/x", "broken", "c", "a/y", "d", "e", "f")
	want := names(t, s, t.Context(), options(suite.Options{}, func(string) error { return nil }))
	if len(want) != 15 || want[0] != "a/x m-1 invalid" && want[0] != "a/x m-1 pass" {
		t.Errorf("got %v", want)
	}
	for _, parallel := range []int{2, 8} {
		got := names(t, s, t.Context(), options(suite.Options{Parallel: parallel}, func(string) error { return nil }))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d at once (-one +these):\n%s", parallel, diff)
		}
	}
}

// With FailFast nothing begins after the first scenario that does not pass, and
// what was not run is told.
func TestFailFast(t *testing.T) {
	s := open(t, "a", "b", "c")
	var ran atomic.Int32
	got := names(t, s, t.Context(), options(suite.Options{FailFast: true, Models: []string{"m-1"}}, func(name string) error {
		ran.Add(1)
		if name == "b" {
			return errors.New("no")
		}
		return nil
	}))
	want := []string{"a m-1 pass", "b m-1 fail", "c m-1 not_run"}
	if diff := cmp.Diff(want, got); diff != "" || ran.Load() != 2 {
		t.Errorf("%d ran (-want +got):\n%s", ran.Load(), diff)
	}
}

func TestInterrupted(t *testing.T) {
	s := open(t, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	got := names(t, s, ctx, options(suite.Options{Models: []string{"m-1"}}, func(name string) error {
		if name == "b" {
			cancel()
		}
		return nil
	}))
	if diff := cmp.Diff([]string{"a m-1 pass", "b m-1 not_run", "c m-1 not_run"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An error of the reader ends the run, and it is not called again.
func TestReaderFails(t *testing.T) {
	s := open(t, "a", "b", "c")
	calls, full := 0, errors.New("disk full")
	err := s.Run(t.Context(), s.Names(), options(suite.Options{Parallel: 2}, func(string) error { return nil }), func(*harness.Result) error {
		calls++
		return full
	})
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestSelect(t *testing.T) {
	s := open(t, "a/x", "a/y", "ab", "b")
	for _, tc := range []struct {
		why, args, want string
	}{
		{"all", "", "a/x a/y ab b"},
		{"a name", "b", "b"},
		{"a folder, not what begins like it", "a", "a/x a/y"},
		{"several, in the order of all, each once", "b a/y a/y", "a/y b"},
		{"a pattern", "a/*", "a/x a/y"},
		{"a file", filepath.Join(s.Dirs.Scenarios, "a", "x.yaml"), "a/x"},
		{"the folder of all", s.Dirs.Scenarios, "a/x a/y ab b"},
	} {
		got, err := s.Select(strings.Fields(tc.args))
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %q, %v, want %q", tc.why, got, err, tc.want)
		}
	}
	for _, arg := range []string{"c", "a/z", "x", "[", "", ".."} {
		if got, err := s.Select([]string{arg}); err == nil && arg != "" || err != nil && failure.Of(err) != failure.ScenarioInvalid {
			t.Errorf("%q: got %q, %v", arg, got, err)
		}
	}
}

func TestCheckNames(t *testing.T) {
	s := open(t, "smoke", "slow")
	o := suite.Options{Labels: []string{"smoke", "slwo"}, Models: []string{"m-1"}}
	names(t, s, t.Context(), options(o, func(string) error { return nil }))
	if err := s.CheckNames(o); failure.Of(err) != failure.ScenarioInvalid || err.Error() != `no selected scenario has the label "slwo" (did you mean "slow"?)` {
		t.Errorf("got %v", err)
	}
	if err := s.CheckNames(suite.Options{Labels: []string{"slow"}, Models: []string{"m-2"}}); err != nil {
		t.Errorf("got %v", err)
	}
	if err := s.CheckNames(suite.Options{Models: []string{"M_1"}}); err == nil || !strings.Contains(err.Error(), `runs with the model "M_1" (did you mean "m-1"?)`) {
		t.Errorf("got %v", err)
	}
}

// A model whose API nobody knows is told with the place in the scenario.
func TestUnknownAPI(t *testing.T) {
	s := open(t, "a")
	path := filepath.Join(s.Dirs.Scenarios, "a.yaml")
	if err := os.WriteFile(path, []byte("why: It is there.\nowner: us\ntask: Go.\nmodel: m-9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var said string
	err := s.Run(t.Context(), s.Names(), suite.Options{}, func(r *harness.Result) error { said = r.Failures[0].What; return nil })
	if err != nil || !strings.HasPrefix(said, filepath.ToSlash(path)+`:4:1: model "m-9": its API is not known; describe it in `) {
		t.Errorf("said %q, %v", said, err)
	}
}

// The whole retry policy of the configuration reaches the agent.
func TestRetryPolicy(t *testing.T) {
	s := open(t, "a")
	file := filepath.Join(s.Dirs.Scenarios, "retake.yaml")
	text := "retries: {attempts: 5, backoff: 1s, max_backoff: 2s, retry_after_cap: 3s, attempt_timeout: 4s}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := suite.Open(s.Dirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := s.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, "m-1", suite.Options{})
	want := harness.Retry{Attempts: 5, Backoff: time.Second, MaxBackoff: 2 * time.Second, RetryAfterCap: 3 * time.Second, Timeout: 4 * time.Second}
	if diff := cmp.Diff(want, p.Retry); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
