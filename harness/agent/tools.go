package agent

import (
	"context"
	"fmt"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// useTools runs all calls of a turn and appends their results as one message.
func (r *run) useTools(ctx context.Context, resp *wire.Response) (end harness.Outcome, goOn bool) {
	calls := resp.Calls()
	if end, ok := r.mayRun(resp, calls); !ok {
		return end, false
	}
	answers := r.runAll(ctx, calls)
	results := make([]wire.Block, len(calls))
	failed := 0
	for i, a := range answers {
		results[i] = wire.Block{
			Kind: wire.KindToolResult, ID: calls[i].ID, IsError: a.IsError,
			Result: []wire.Block{{Kind: wire.KindText, Text: a.Text}},
		}
		if r.env.API == wire.GeminiGenerate {
			results[i].Name = calls[i].Name // the other APIs go by the id
		}
		if a.IsError {
			failed++
		}
	}
	r.req.Messages = append(r.req.Messages, wire.Message{Role: wire.RoleUser, Blocks: results})
	r.relax()
	return r.afterTools(resp.Stop, len(calls), failed)
}

// mayRun refuses a turn of which no call may be run.
func (r *run) mayRun(resp *wire.Response, calls []wire.Block) (harness.Outcome, bool) {
	if len(calls) == 0 {
		return r.end(failure.Protocol, resp.Stop, "the stop reason asks for tools and the turn has no call"), false
	}
	ids := map[string]bool{}
	for _, c := range calls {
		if c.ID != "" && ids[c.ID] {
			return r.end(failure.DuplicateCall, resp.Stop, fmt.Sprintf("two calls have the id %q; none was run", c.ID)), false
		}
		ids[c.ID] = true
	}
	r.calls += len(calls)
	if n := r.env.Scenario.Limits.ToolCalls; n > 0 && r.calls > n {
		return r.end(failure.CallBudget, resp.Stop, fmt.Sprintf("%d tool calls asked for, budget %d", r.calls, n)), false
	}
	for _, c := range calls {
		key := c.Name + " " + canonical(c)
		r.seen[key]++
		if n := r.env.Scenario.GiveUp.RepeatedCalls; n > 0 && r.seen[key] > n {
			return r.end(failure.RepeatedCall, resp.Stop, fmt.Sprintf("%s was called more than %d times with the same arguments", c.Name, n)), false
		}
	}
	return harness.Outcome{}, true
}

func canonical(c wire.Block) string {
	b, err := jsondoc.Canonical(nil, c.Args)
	if err != nil {
		return c.ArgsText
	}
	return string(b)
}

func (r *run) runAll(ctx context.Context, calls []wire.Block) []tool.Answer {
	answers := make([]tool.Answer, len(calls))
	work := make([]func(context.Context), len(calls))
	for i, c := range calls {
		args := string(c.Args)
		if c.Args == nil {
			args = c.ArgsText
		}
		p := r.env.Tools.Prepare(c.Name, c.ID, args)
		// A harness error is kept by the box, which ends the run.
		work[i] = func(ctx context.Context) { answers[i], _ = p.Do(ctx) }
	}
	clock.Batch(ctx, r.env.Scenario.Limits.Parallel, work...)
	return answers
}

// afterTools applies the stop criteria that look at failed calls.
func (r *run) afterTools(stop wire.Stop, calls, failed int) (harness.Outcome, bool) {
	r.toolErrors += failed
	s := r.env.Scenario
	if failed > 0 && calls > 1 && s.OnPartial == scenario.PartialStop {
		return r.end(failure.PartialFailed, stop, fmt.Sprintf("%d of %d parallel calls failed", failed, calls)), false
	}
	if n := s.GiveUp.ToolErrors; n > 0 && r.toolErrors > n {
		return r.end(failure.ToolErrorCap, stop, fmt.Sprintf("%d tool errors, at most %d", r.toolErrors, n)), false
	}
	return harness.Outcome{}, true
}
