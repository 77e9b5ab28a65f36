package tool_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
)

// bench is a box with one tool and what it writes down.
type bench struct {
	spec    tool.Spec
	opts    tool.Options
	journal journal.Journal
	calls   []tool.Call // that reached the tool
}

// do calls the tool t once, on a virtual clock, and returns its answer and
// attempts.
func (b *bench) do(t *testing.T, ctx context.Context, args string, run func(ctx context.Context, c tool.Call) (tool.Result, error)) (tool.Answer, []*journal.ToolAttempt, error) {
	t.Helper()
	b.spec.Decl.Name = "t"
	b.spec.Exec = tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		b.calls = append(b.calls, c)
		return run(ctx, c)
	})
	b.opts.Journal, b.opts.TaskID = &b.journal, "task"
	if b.opts.AttemptID == nil {
		b.opts.AttemptID = func(n int) string { return "a" + string(rune('0'+n)) }
	}
	ans, err := tool.NewBox([]tool.Spec{b.spec}, b.opts).Call(ctx, "t", "id", args)
	return ans, journal.Of[*journal.ToolAttempt](&b.journal), err
}

func virtual(t *testing.T) context.Context { t.Helper(); return clock.Virtual(t.Context()) }

func fine(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Content: `{"ok":true}`}, nil
}

func compiled(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(jsontext.Value(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What must not reach the tool does not, and the model is told what to mend.
func TestRefusals(t *testing.T) {
	input := compiled(t, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":7}},"required":["city"],"additionalProperties":false}`)
	yes := func(context.Context, tool.Call) (bool, error) { return true, nil }
	no := func(context.Context, tool.Call) (bool, error) { return false, nil }
	good := `{"city":"London"}`
	for _, tc := range []struct {
		why     string
		tool    string // "" is t
		args    string
		approve func(context.Context, tool.Call) (bool, error)
		asks    bool // the tool needs an approval
		guard   bool
		text    string // "" is a call that runs
		class   failure.Class
	}{
		{"a good call runs", "", good, nil, false, false, "", ""},
		{"a tool that was not declared", "u", good, nil, false, false, `{"ok":false,"error":{"code":"UNKNOWN_TOOL","message":"there is no tool \"u\"; the tools are: t","retryable":false}}`, failure.UnknownTool},
		{"no JSON", "", `{"city":`, nil, false, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"the arguments are not valid JSON; send one complete JSON object","retryable":false}}`, failure.ToolInvalidArguments},
		{"nothing at all is not {}", "", ``, nil, false, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"the arguments are not valid JSON; send one complete JSON object","retryable":false}}`, failure.ToolInvalidArguments},
		{"two objects", "", good + good, nil, false, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"the arguments are not valid JSON; send one complete JSON object","retryable":false}}`, failure.ToolInvalidArguments},
		{"no object", "", `["London"]`, nil, false, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"the arguments must be a JSON object","retryable":false}}`, failure.ToolInvalidArguments},
		{"each wrong field by its name", "", `{"days":9,"town":"x"}`, nil, false, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"/city: is required; /days: must be at most 7, is 9; /town: is not allowed here","retryable":false}}`, failure.ToolInvalidArguments},
		{"the policy", "", good, nil, false, true, `{"ok":false,"error":{"code":"BLOCKED_BY_POLICY","message":"not on Sundays","retryable":false}}`, failure.ToolBlocked},
		{"the policy comes before the person", "", good, yes, true, true, `{"ok":false,"error":{"code":"BLOCKED_BY_POLICY","message":"not on Sundays","retryable":false}}`, failure.ToolBlocked},
		{"nobody to ask", "", good, nil, true, false, `{"ok":false,"error":{"code":"NOT_APPROVED","message":"a person has to approve this call, and has not","retryable":false}}`, failure.ToolNotApproved},
		{"a person says no", "", good, no, true, false, `{"ok":false,"error":{"code":"NOT_APPROVED","message":"a person has to approve this call, and has not","retryable":false}}`, failure.ToolNotApproved},
		{"a person says yes", "", good, yes, true, false, "", ""},
		{"nobody is asked about a call that cannot be", "", `{}`, yes, true, false, `{"ok":false,"error":{"code":"VALIDATION_ERROR","message":"/city: is required","retryable":false}}`, failure.ToolInvalidArguments},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var j journal.Journal
			ran := 0
			opts := tool.Options{Journal: &j, Approve: tc.approve}
			if tc.guard {
				opts.Guard = func(c tool.Call) (string, bool) { return "not on Sundays", c.Tool == "t" }
			}
			box := tool.NewBox([]tool.Spec{{
				Decl: tool.Decl{Name: "t", Approval: tc.asks}, Input: input,
				Exec: tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) { ran++; return fine(ctx, c) }),
			}}, opts)
			name := tc.tool
			if name == "" {
				name = "t"
			}
			ans, err := box.Call(virtual(t), name, "id", tc.args)
			if err != nil || box.Fatal() != nil {
				t.Fatal(err, box.Fatal())
			}
			attempt, call := journal.Of[*journal.ToolAttempt](&j), journal.Of[*journal.ToolCall](&j)
			if len(attempt) != 1 || len(call) != 1 {
				t.Fatalf("%d attempts and %d calls are written down, want one of each", len(attempt), len(call))
			}
			if tc.text == "" {
				if ans.IsError || ran != 1 || !attempt[0].Reached || attempt[0].Outcome != journal.OK || ans.Text != `{"ok":true}` {
					t.Errorf("did not run: %+v, %+v", ans, attempt[0])
				}
				return
			}
			want := tool.Answer{Text: tc.text, IsError: true, Outcome: journal.Rejected, Class: tc.class}
			if diff := cmp.Diff(want, ans); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if ran != 0 || attempt[0].Reached || attempt[0].Outcome != journal.Rejected || attempt[0].Class != tc.class {
				t.Errorf("ran %d times: %+v", ran, attempt[0])
			}
		})
	}
}

// An approval that cannot be asked for is no "no": it ends the run.
func TestAnApprovalThatFails(t *testing.T) {
	for _, tc := range []struct {
		why  string
		err  error
		want failure.Class
	}{
		{"the way to the person is cut", errors.New("pager is down"), failure.World},
		{"the run was stopped while waiting", context.Canceled, failure.Interrupted},
		{"an error with a class keeps it", failure.Errorf(failure.ScenarioInvalid, "who?"), failure.ScenarioInvalid},
	} {
		b := &bench{opts: tool.Options{Approve: func(context.Context, tool.Call) (bool, error) { return true, tc.err }}}
		b.spec.Decl.Approval = true
		ans, _, err := b.do(t, virtual(t), `{}`, fine)
		if failure.Of(err) != tc.want || !strings.Contains(err.Error(), "tool t: asking for approval: ") {
			t.Errorf("%s: got %v of class %q, want %q", tc.why, err, failure.Of(err), tc.want)
		}
		if !ans.IsError || len(b.calls) != 0 {
			t.Errorf("%s: the call went on: %+v", tc.why, ans)
		}
	}
}

func answers(results ...tool.Result) func(context.Context, tool.Call) (tool.Result, error) {
	return func(_ context.Context, c tool.Call) (tool.Result, error) {
		return results[min(c.Attempt, len(results))-1], nil
	}
}

func TestRetries(t *testing.T) {
	down := tool.Result{Err: &tool.Error{Code: tool.CodeUnavailable, Message: "down", Retryable: true, Class: failure.ToolUnavailable}}
	final := tool.Result{Err: &tool.Error{Code: "NO_FUNDS", Message: "no", Class: failure.ToolFailed}}
	lost := tool.Result{Err: &tool.Error{Code: tool.CodeTimeout, Message: "late", Retryable: true, Class: failure.ToolTimeout}}
	good := tool.Result{Content: "done"}
	read, write := tool.EffectRead, tool.EffectWrite
	hostKey, modelKey := &tool.Key{Field: "key", From: tool.KeyFromHost}, &tool.Key{Field: "key", From: tool.KeyFromModel}
	for _, tc := range []struct {
		why     string
		effect  tool.Effect
		key     *tool.Key
		policy  tool.Retry
		results []tool.Result
		want    []journal.Outcome
		took    time.Duration
	}{
		{"no policy is one attempt", read, nil, tool.Retry{}, []tool.Result{down}, []journal.Outcome{journal.Failed}, 0},
		{"until it works, waiting longer each time", read, nil, tool.Retry{Attempts: 5, Backoff: time.Second}, []tool.Result{down, down, good}, []journal.Outcome{journal.Failed, journal.Failed, journal.OK}, 3 * time.Second},
		{"at most as often as allowed", read, nil, tool.Retry{Attempts: 2, Backoff: time.Second}, []tool.Result{down}, []journal.Outcome{journal.Failed, journal.Failed}, time.Second},
		{"what is not retryable is not retried", read, nil, tool.Retry{Attempts: 5}, []tool.Result{final}, []journal.Outcome{journal.Failed}, 0},
		{"a read of unknown outcome may be repeated", read, nil, tool.Retry{Attempts: 2}, []tool.Result{lost, good}, []journal.Outcome{journal.Unknown, journal.OK}, 0},
		{"a write of unknown outcome may not", write, nil, tool.Retry{Attempts: 2}, []tool.Result{lost, good}, []journal.Outcome{journal.Unknown}, 0},
		{"nor one of a tool that says nothing", tool.EffectUndeclared, nil, tool.Retry{Attempts: 2}, []tool.Result{lost, good}, []journal.Outcome{journal.Unknown}, 0},
		{"with a key of the host's it may", write, hostKey, tool.Retry{Attempts: 2}, []tool.Result{lost, good}, []journal.Outcome{journal.Unknown, journal.OK}, 0},
		{"and of the model's", write, modelKey, tool.Retry{Attempts: 2}, []tool.Result{lost, good}, []journal.Outcome{journal.Unknown, journal.OK}, 0},
		{"a write that certainly did not happen may be repeated", write, nil, tool.Retry{Attempts: 2}, []tool.Result{down, good}, []journal.Outcome{journal.Failed, journal.OK}, 0},
	} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tc.effect, Key: tc.key, Retry: tc.policy}}}
		ctx := virtual(t)
		_, attempts, err := b.do(t, ctx, `{}`, answers(tc.results...))
		if err != nil {
			t.Fatal(err)
		}
		var got []journal.Outcome
		for i, a := range attempts {
			got = append(got, a.Outcome)
			if a.Attempt != i+1 || a.Call != 1 || a.Ordinal != i+1 {
				t.Errorf("%s: attempt %d has the numbers %d, %d, %d", tc.why, i+1, a.Attempt, a.Call, a.Ordinal)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
		if took := clock.Now(ctx); took != tc.took {
			t.Errorf("%s: took %v, want %v", tc.why, took, tc.took)
		}
	}
}

// An effect that happened, and whose acknowledgement was lost, is not repeated:
// three tries with three call ids once sent three mails.
func TestALostAcknowledgementIsNotRepeated(t *testing.T) {
	for _, tc := range []struct {
		why string
		run func(context.Context, tool.Call) (tool.Result, error)
	}{
		{"a connection that breaks", tool.Func(func(context.Context, []byte) (string, error) { return "", errors.New("connection reset") }).Execute},
		{"a panic after the effect", func(context.Context, tool.Call) (tool.Result, error) { panic("nil map") }},
		{"a goroutine that ends after the effect", func(context.Context, tool.Call) (tool.Result, error) { runtime.Goexit(); return tool.Result{}, nil }},
		{"an answer of another form than promised", func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: `[]`}, nil }},
		{"a call that was cancelled", tool.Func(func(context.Context, []byte) (string, error) { return "", context.Canceled }).Execute},
	} {
		b := &bench{spec: tool.Spec{
			Decl: tool.Decl{Effect: tool.EffectWrite, Retry: tool.Retry{Attempts: 3}}, Output: compiled(t, `{"type":"object"}`),
		}}
		_, attempts, err := b.do(t, virtual(t), `{}`, tc.run)
		if err != nil || len(attempts) != 1 || attempts[0].Outcome != journal.Unknown {
			t.Errorf("%s: %d attempts, %v, want one of unknown outcome", tc.why, len(attempts), err)
		}
	}
}

// A read has no effect that could be in doubt.
func TestAReadOfAnotherFormThanPromisedHasFailed(t *testing.T) {
	b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectRead}, Output: compiled(t, `{"type":"object"}`)}}
	_, attempts, err := b.do(t, virtual(t), `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: `[]`}, nil })
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != journal.Failed {
		t.Errorf("%+v, %v, want one that failed", attempts, err)
	}
}

// A tool that waits without the run's clock is given up, and said to be one.
func TestAToolThatWaitsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that the second of real time is none
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Timeout: 10 * time.Second}}}
		ctx := virtual(t)
		_, attempts, err := b.do(t, ctx, `{}`, tool.Func(func(ctx context.Context, _ []byte) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(time.Hour):
				return "late", nil
			}
		}).Execute)
		if err != nil || attempts[0].Class != failure.ToolTimeout || clock.Now(ctx) != 10*time.Second {
			t.Errorf("%v, %+v at %v, want a timeout at 10s", err, attempts[0], clock.Now(ctx))
		}
		warnings := journal.Of[*journal.Warning](&b.journal)
		if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "tool t waits by itself") {
			t.Errorf("warnings: %+v", warnings)
		}
	})
}

func TestAToolThatEndsItsGoroutine(t *testing.T) {
	for _, tc := range []struct {
		why string
		ctx context.Context
	}{{"on a line", virtual(t)}, {"on the wall", clock.Wall(t.Context())}} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectRead}}}
		ans, attempts, err := b.do(t, tc.ctx, `{}`, func(context.Context, tool.Call) (tool.Result, error) {
			runtime.Goexit()
			return tool.Result{}, nil
		})
		if err != nil || !ans.IsError || ans.Class != failure.ToolUnavailable || attempts[0].Detail != "the tool ended its goroutine" {
			t.Errorf("%s: %+v, %v", tc.why, ans, err)
		}
	}
}

// An executor that is said to wait for nothing is called as it is.
func TestAnInstantExecutorIsCalledOnTheAgentsGoroutine(t *testing.T) {
	for _, instant := range []bool{true, false} {
		b := &bench{spec: tool.Spec{Instant: instant}}
		agents := false
		_, _, err := b.do(t, virtual(t), `{}`, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			agents = strings.Contains(string(debug.Stack()), "tool.(*Box).Call(")
			return fine(ctx, c)
		})
		if err != nil || agents != instant {
			t.Errorf("instant %v: on the agent's goroutine %v (%v)", instant, agents, err)
		}
	}
}

func TestTimeouts(t *testing.T) {
	late := &tool.Error{Code: tool.CodeTimeout, Message: "the tool did not answer in time", Retryable: true, Class: failure.ToolTimeout}
	sleeps := func(d time.Duration) func(context.Context, tool.Call) (tool.Result, error) {
		return func(ctx context.Context, c tool.Call) (tool.Result, error) {
			if err := clock.Sleep(ctx, d); err != nil {
				return tool.Result{}, err
			}
			return fine(ctx, c)
		}
	}
	for _, tc := range []struct {
		why string
		run func(context.Context, tool.Call) (tool.Result, error)
		out journal.Outcome
	}{
		{"in time", sleeps(9 * time.Second), journal.OK},
		{"a recorded answer that took longer", sleeps(11 * time.Second), journal.Unknown},
		{"a func that looks at its context", tool.Func(func(ctx context.Context, _ []byte) (string, error) { return "", clock.Sleep(ctx, time.Hour) }).Execute, journal.Unknown},
		{"an answer that comes although it is too late", func(ctx context.Context, c tool.Call) (tool.Result, error) {
			_ = clock.Sleep(ctx, time.Hour)
			return fine(ctx, c)
		}, journal.Unknown},
	} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectRead, Timeout: 10 * time.Second, Retry: tool.Retry{Attempts: 1}}}}
		ctx := virtual(t)
		ans, attempts, err := b.do(t, ctx, `{}`, tc.run)
		if err != nil || len(attempts) != 1 || attempts[0].Outcome != tc.out {
			t.Errorf("%s: %v, %+v, want %s", tc.why, err, attempts, tc.out)
			continue
		}
		if tc.out != journal.OK && (ans.Text != tool.ErrorText(late) || attempts[0].Latency != 10*time.Second) {
			t.Errorf("%s: told %s after %v", tc.why, ans.Text, attempts[0].Latency)
		}
	}
}

// The end of the run is not the tool's timeout: it ends the run.
func TestTheRunEndsInATool(t *testing.T) {
	ctx, cancel := clock.WithTimeout(virtual(t), time.Second)
	defer cancel()
	b := &bench{spec: tool.Spec{Decl: tool.Decl{Timeout: 10 * time.Second}}}
	_, attempts, err := b.do(t, ctx, `{}`, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		return tool.Result{}, clock.Sleep(ctx, time.Minute)
	})
	if !errors.Is(err, context.DeadlineExceeded) || attempts[0].Outcome != journal.Unknown {
		t.Errorf("got %v, %+v", err, attempts[0])
	}
}

// What a tool says beside its error stays in the log.
func TestNoErrorLeaks(t *testing.T) {
	secret := "select * from users; /srv/app/db.go:41; http://10.0.0.7/"
	for _, tc := range []struct {
		why   string
		run   func(context.Context, tool.Call) (tool.Result, error)
		want  string // message
		class failure.Class
	}{
		{"an error of Go", tool.Func(func(context.Context, []byte) (string, error) { return "", errors.New(secret) }).Execute, "the tool failed", failure.ToolUnavailable},
		{"a panic", func(context.Context, tool.Call) (tool.Result, error) { panic(secret) }, "the tool broke down", failure.ToolUnavailable},
		{"the detail of an error of its own", tool.Func(func(context.Context, []byte) (string, error) {
			return "", &tool.Error{Code: "NO_ROOM", Message: "the hotel is full", Detail: secret}
		}).Execute, "the hotel is full", failure.ToolFailed},
		{"a result of another form than promised", func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: secret}, nil }, "the tool's answer does not have the promised form", failure.ToolBadOutput},
	} {
		b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectRead}, Output: compiled(t, `{"type":"object"}`)}}
		ans, attempts, err := b.do(t, virtual(t), `{}`, tc.run)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(ans.Text, `"message":"`+tc.want+`"`) || ans.Class != tc.class || !ans.IsError {
			t.Errorf("%s: told %s (%s)", tc.why, ans.Text, ans.Class)
		}
		if strings.Contains(ans.Text, "users") || strings.Contains(ans.Text, "db.go") {
			t.Errorf("%s: leaked: %s", tc.why, ans.Text)
		}
		if attempts[0].Detail == "" || ans.Detail != attempts[0].Detail {
			t.Errorf("%s: the log has %q, the agent's own %q", tc.why, attempts[0].Detail, ans.Detail)
		}
	}
}

// Hooks reshape what the model is told, errors included, in their order.
func TestPost(t *testing.T) {
	hook := func(s string) func(tool.Call, tool.Result) tool.Result {
		return func(c tool.Call, r tool.Result) tool.Result { r.Content += s + c.Tool; return r }
	}
	b := &bench{opts: tool.Options{Post: []func(tool.Call, tool.Result) tool.Result{hook("1"), hook("2")}}}
	ans, _, _ := b.do(t, virtual(t), `{}`, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: "x"}, nil })
	if ans.Text != "x1t2t" {
		t.Errorf("got %q", ans.Text)
	}
}

// An error of the harness ends the run; of several the first is kept.
func TestFatal(t *testing.T) {
	first, second := failure.Errorf(failure.CassetteMiss, "first"), failure.Errorf(failure.CassetteMiss, "second")
	box := tool.NewBox([]tool.Spec{{Decl: tool.Decl{Name: "t"}, Exec: tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Ordinal == 1 {
			return tool.Result{}, first
		}
		return tool.Result{}, second
	})}}, tool.Options{})
	for range 2 {
		ans, err := box.Call(virtual(t), "t", "", `{}`)
		if failure.Of(err) != failure.CassetteMiss || strings.Contains(ans.Text, "first") || !ans.IsError {
			t.Errorf("got %v, told %s", err, ans.Text)
		}
	}
	if got := box.Fatal(); !errors.Is(got, first) {
		t.Errorf("kept %v", got)
	}
}

func TestErrorText(t *testing.T) {
	got := tool.ErrorText(&tool.Error{Code: `A"B`, Message: "line\nbreak </script>", Retryable: true})
	if want := `{"ok":false,"error":{"code":"A\"B","message":"line\nbreak </script>","retryable":true}}`; got != want {
		t.Errorf("got %s", got)
	}
}
