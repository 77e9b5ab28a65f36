package tool_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/tool"
)

// keyOf is the key that reaches the tool for a call with these arguments.
func keyOf(t *testing.T, task, name, id, args string) (key string, c tool.Call, j *journal.Journal) {
	t.Helper()
	j = &journal.Journal{}
	box := tool.NewBox([]tool.Spec{{
		Decl: tool.Decl{Name: name, Key: &tool.Key{Field: "key", From: tool.KeyFromHost}},
		Exec: tool.ExecutorFunc(func(_ context.Context, got tool.Call) (tool.Result, error) { c = got; return tool.Result{}, nil }),
	}}, tool.Options{TaskID: task, Journal: j})
	if _, err := box.Call(clock.Virtual(t.Context()), name, id, args); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(c.Args, &got); err != nil {
		t.Fatalf("the tool got %s: %v", c.Args, err)
	}
	return got.Key, c, j
}

func TestHostKey(t *testing.T) {
	base, _, _ := keyOf(t, "task", "pay", "id-1", `{"n":1,"to":"a"}`)
	if len(base) < 16 {
		t.Errorf("the key %q is too short to be one", base)
	}
	for _, tc := range []struct {
		why            string
		task, id, args string
		same           bool
	}{
		{"the same operation under another call id", "task", "id-2", `{"n":1,"to":"a"}`, true},
		{"in another spelling", "task", "id-1", ` { "to" : "a", "n" : 1 } `, true},
		{"the model's own idea of a key does not count", "task", "id-1", `{"n":1,"to":"a","key":"mine"}`, true},
		{"other arguments", "task", "id-1", `{"n":2,"to":"a"}`, false},
		{"another task", "other", "id-1", `{"n":1,"to":"a"}`, false},
		{"no arguments at all", "task", "id-1", `{}`, false},
	} {
		got, _, _ := keyOf(t, tc.task, "pay", tc.id, tc.args)
		if (got == base) != tc.same {
			t.Errorf("%s: got %q beside %q", tc.why, got, base)
		}
	}
	if other, _, _ := keyOf(t, "task", "refund", "id-1", `{"n":1,"to":"a"}`); other == base {
		t.Error("another tool has the same key")
	}
}

// The key differs from run to run; what is written down must not.
func TestHostKeyIsNotWrittenDown(t *testing.T) {
	_, c, j := keyOf(t, "task", "pay", "id", `{"n":1.50}`)
	for _, e := range journal.Of[*journal.ToolCall](j) {
		if string(e.Args) != `{"n":1.50}` {
			t.Errorf("the call is written down as %s", e.Args)
		}
	}
	for _, e := range journal.Of[*journal.ToolAttempt](j) {
		if string(e.Args) != `{"n":1.50}` {
			t.Errorf("the attempt is written down as %s", e.Args)
		}
	}
	var members map[string]any
	if err := json.Unmarshal(c.Args, &members); err != nil || len(members) != 2 {
		t.Errorf("the tool got %s", c.Args)
	}
}

// Every attempt of a call has the same key and an id of its own.
func TestKeyOverAttempts(t *testing.T) {
	b := &bench{spec: tool.Spec{Decl: tool.Decl{Effect: tool.EffectWrite, Retry: tool.Retry{Attempts: 3}, Key: &tool.Key{Field: "key", From: tool.KeyFromHost}}}}
	lost := tool.Result{Err: &tool.Error{Code: tool.CodeTimeout, Retryable: true, Class: failure.ToolTimeout}}
	if _, _, err := b.do(t, virtual(t), `{"n":1}`, answers(lost)); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range b.calls {
		ids[c.AttemptID] = true
		if string(c.Args) != string(b.calls[0].Args) || c.TaskID != "task" {
			t.Errorf("attempt %d got %s of %s", c.Attempt, c.Args, c.TaskID)
		}
	}
	if len(b.calls) != 3 || len(ids) != 3 {
		t.Errorf("%d attempts with the ids %v", len(b.calls), ids)
	}
}

// Calls that run at once keep the numbers that they were prepared with.
func TestParallelCalls(t *testing.T) {
	j := &journal.Journal{}
	box := tool.NewBox([]tool.Spec{{
		Decl: tool.Decl{Name: "t"},
		Exec: tool.ExecutorFunc(func(_ context.Context, c tool.Call) (tool.Result, error) { return tool.Result{Content: c.ID}, nil }),
	}}, tool.Options{Journal: j, AttemptID: func(n int) string { return fmt.Sprint("a", n) }})
	const n = 64
	answers := make([]tool.Answer, n)
	var wg sync.WaitGroup
	for i := range n {
		p := box.Prepare("t", fmt.Sprint("id-", i), `{}`)
		wg.Go(func() { answers[i], _ = p.Do(context.Background()) })
	}
	wg.Wait()
	calls := map[int]string{}
	for _, c := range journal.Of[*journal.ToolCall](j) {
		calls[c.Ordinal] = c.CallID
	}
	attempts := map[int]bool{}
	for _, a := range journal.Of[*journal.ToolAttempt](j) {
		attempts[a.Ordinal] = true
	}
	for i := range n {
		id := fmt.Sprint("id-", i)
		if answers[i].Text != id || calls[i+1] != id || !attempts[i+1] {
			t.Errorf("call %d: told %q, written down as that of %q", i, answers[i].Text, calls[i+1])
		}
	}
}
