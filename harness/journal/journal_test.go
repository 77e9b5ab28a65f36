package journal_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/journal"
)

// names spells events so that an order can be read.
func names(events []journal.Event) []string {
	var out []string
	for _, e := range events {
		switch e := e.(type) {
		case *journal.ModelAttempt:
			out = append(out, "model "+string(rune('0'+e.Ordinal)))
		case *journal.ToolAttempt:
			out = append(out, "attempt "+string(rune('0'+e.Call)))
		case *journal.ToolCall:
			out = append(out, "call "+string(rune('0'+e.Ordinal)))
		case *journal.Warning:
			out = append(out, "warning")
		case *journal.Ended:
			out = append(out, "ended")
		}
	}
	return out
}

func TestSorted(t *testing.T) {
	for _, tc := range []struct {
		why    string
		events []journal.Event
		want   []string
	}{
		{
			"by time, whenever they were written",
			[]journal.Event{&journal.ToolCall{Ordinal: 2, At: 5}, &journal.ToolCall{Ordinal: 1, At: 3}, &journal.Ended{At: 9}, &journal.Warning{At: 4}},
			[]string{"call 1", "warning", "call 2", "ended"},
		},
		{
			"parallel calls by their numbers, whoever was first",
			[]journal.Event{&journal.ModelAttempt{Ordinal: 1}, &journal.ToolAttempt{Call: 2, At: 3}, &journal.ToolAttempt{Call: 1, At: 3}},
			[]string{"model 1", "attempt 1", "attempt 2"},
		},
		{
			"where nothing takes any time: a turn, its calls, the next turn, the end",
			[]journal.Event{
				&journal.ModelAttempt{Ordinal: 1},
				&journal.ToolAttempt{Call: 3}, &journal.ToolCall{Ordinal: 3}, &journal.ToolAttempt{Call: 1}, &journal.ToolCall{Ordinal: 1},
				&journal.ToolAttempt{Call: 2}, &journal.ToolCall{Ordinal: 2},
				&journal.ModelAttempt{Ordinal: 2}, &journal.ToolAttempt{Call: 4}, &journal.ToolCall{Ordinal: 4},
				&journal.ModelAttempt{Ordinal: 3}, &journal.Ended{},
			},
			[]string{
				"model 1", "attempt 1", "call 1", "attempt 2", "call 2", "attempt 3", "call 3",
				"model 2", "attempt 4", "call 4", "model 3", "ended",
			},
		},
	} {
		j := &journal.Journal{}
		for _, e := range tc.events {
			j.Write(e)
		}
		if diff := cmp.Diff(tc.want, names(j.Sorted())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

// Subscribers get each event once, in the order of writing, one at a time.
func TestSubscribe(t *testing.T) {
	j := &journal.Journal{}
	j.Write(&journal.Warning{Text: "before"})
	var got []journal.Event
	j.Subscribe(func(e journal.Event) { got = append(got, e) })
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { j.Write(&journal.ToolCall{Ordinal: i + 1, At: time.Duration(i)}) })
	}
	wg.Wait()
	if len(got) != 50 {
		t.Errorf("got %d events, want the 50 after the subscription", len(got))
	}
	calls := journal.Of[*journal.ToolCall](j)
	if len(calls) != 50 || calls[0].Ordinal != 1 || calls[49].Ordinal != 50 {
		t.Errorf("Of gives %d calls", len(calls))
	}
}
