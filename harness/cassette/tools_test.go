package cassette_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

func call(name, args string) tool.Call { return tool.Call{Tool: name, Args: []byte(args)} }

func toolFile(tb testing.TB, calls []tool.Call, results []tool.Result) *cassette.File {
	tb.Helper()
	f := &cassette.File{Name: "cassettes/travel/umbrella/tools.yaml", Version: 2}
	for i, c := range calls {
		in, err := cassette.ToolInteraction(c, results[i], 30*time.Millisecond)
		if err != nil {
			tb.Fatal(err)
		}
		f.Interactions = append(f.Interactions, in)
	}
	return f
}

func toolPlayer(tb testing.TB, f *cassette.File, o cassette.ToolOptions) *cassette.ToolPlayer {
	tb.Helper()
	p, err := cassette.NewToolPlayer(f, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestToolResultsSurviveTheFile(t *testing.T) {
	rows := []struct {
		why    string
		result tool.Result
	}{
		{"JSON", tool.Result{Content: `{"temp": 21.50}`}},
		{"text", tool.Result{Content: "sunny\n"}},
		{"nothing", tool.Result{}},
		{"a business error", tool.Result{Err: &tool.Error{Code: "CARD_DECLINED", Message: "declined", Class: failure.ToolFailed}}},
		{"an infrastructure error", tool.Result{Err: &tool.Error{Code: tool.CodeUnavailable, Message: "down", Retryable: true, Class: failure.ToolUnavailable}}},
		{"a timeout", tool.Result{Err: &tool.Error{Code: tool.CodeTimeout, Message: "slow", Retryable: true, Class: failure.ToolTimeout}}},
		{"not approved, which shares a status with blocked", tool.Result{Err: &tool.Error{Code: tool.CodeNotApproved, Message: "no", Class: failure.ToolNotApproved}}},
		{"an error's detail is not for the file", tool.Result{Err: &tool.Error{Code: "X", Message: "x", Class: failure.ToolFailed, Detail: "secret stack"}}},
	}
	for _, r := range rows {
		f := toolFile(t, []tool.Call{call("get weather/ü", `{"b":1, "a":2}`)}, []tool.Result{r.result})
		data, err := cassette.Encode(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "secret stack") {
			t.Errorf("%s: it is in the file", r.why)
		}
		read, err := cassette.Read(data, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := toolPlayer(t, read, cassette.ToolOptions{}).Execute(context.Background(), call("get weather/ü", `{"a":2,"b":1}`))
		if err != nil {
			t.Errorf("%s: %v", r.why, err)
		}
		if d := cmp.Diff(r.result, got, cmpopts.IgnoreFields(tool.Error{}, "Detail")); d != "" {
			t.Errorf("%s:\n%s", r.why, d)
		}
	}
}

func TestToolMatching(t *testing.T) {
	calls := []tool.Call{call("book", `{"city":"Oslo","key":"k-1"}`), call("weather", `{"city":"Oslo"}`)}
	results := []tool.Result{{Content: "booked"}, {Content: "sun"}}
	ctx := context.Background()

	p := toolPlayer(t, toolFile(t, calls, results), cassette.ToolOptions{
		LeaveOut: map[string][]string{"book": {"key"}},
		Again:    func(name string) bool { return name == "weather" },
	})
	if got := p.Unplayed(); len(got) != 2 || got[1].What != `call of weather {"city":"Oslo"}` {
		t.Errorf("Unplayed: %v", got)
	}
	if got, err := p.Execute(ctx, call("book", `{"key":"k-2","city":"Oslo"}`)); err != nil || got.Content != "booked" {
		t.Errorf("the host's key counts: %v, %v", got, err)
	}
	_, err := p.Execute(ctx, call("book", `{"key":"k-3","city":"Oslo"}`))
	if m := missOf(t, err); m.Kind != cassette.UsedUp {
		t.Errorf("a write is given twice: %v", err)
	}
	for range 3 {
		if got, err := p.Execute(ctx, call("weather", `{"city":"Oslo"}`)); err != nil || got.Content != "sun" {
			t.Errorf("a read that may be repeated: %v, %v", got, err)
		}
	}
	_, err = p.Execute(ctx, call("weather", `{"city":"Bergen"}`))
	m := missOf(t, err)
	if m.Cause != cassette.CauseArguments || m.Nearest != 2 || len(m.Differences) != 1 || m.Differences[0].Pointer != "/city" {
		t.Errorf("another argument: %v", err)
	}
	if !strings.Contains(err.Error(), `call of "weather"`) || !strings.Contains(err.Error(), "retake record travel/umbrella") {
		t.Errorf("the message: %v", err)
	}
	if len(p.Misses()) != 2 || len(p.Unplayed()) != 0 {
		t.Errorf("Misses %v, Unplayed %v", p.Misses(), p.Unplayed())
	}

	strict := toolPlayer(t, toolFile(t, calls, results), cassette.ToolOptions{})
	if _, err := strict.Execute(ctx, call("book", `{"city":"Oslo","key":"k-2"}`)); failure.Of(err) != failure.CassetteMiss {
		t.Errorf("an argument that is not left out: %v", err)
	}
	if _, err := strict.Execute(ctx, call("weather", `{"city":"Oslo"}`)); err != nil {
		t.Error(err)
	}
	if _, err := strict.Execute(ctx, call("weather", `{"city":"Oslo"}`)); failure.Of(err) != failure.CassetteMiss {
		t.Errorf("by default nothing is given twice: %v", err)
	}
}

func TestAToolCassetteHoldsToolCallsOnly(t *testing.T) {
	_, err := cassette.NewToolPlayer(fileOf(recorded("/v1/messages", "{}", "a")), cassette.ToolOptions{})
	if failure.Of(err) != failure.CassetteInvalid {
		t.Errorf("NewToolPlayer: %v", err)
	}
}
