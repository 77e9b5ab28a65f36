package harnesstest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/tool"
)

// ledger is a tool's state: how often it paid, and what it answered under which key.
type ledger struct {
	mu    sync.Mutex
	paid  int
	marks map[string]string
}

// paying is a tool in this process that pays. One that forgets keeps its keys where
// no restart finds them.
func paying(forgets bool) drill.InProcess {
	fresh := func() *ledger { return &ledger{marks: map[string]string{}} }
	return drill.InProcess{
		Abilities: drill.Abilities{Restart: true, Together: true},
		NewState:  func(context.Context) (any, error) { return fresh(), nil },
		Open: func(_ context.Context, state any, _ drill.Start) (tool.Executor, effect.Probe, error) {
			books := state.(*ledger)
			keys := books
			if forgets {
				keys = fresh()
			}
			count := func(context.Context) (int, error) {
				books.mu.Lock()
				defer books.mu.Unlock()
				return books.paid, nil
			}
			return tool.Func(func(_ context.Context, args []byte) (string, error) { return pay(books, keys, args) }), effect.ProbeFunc(count), nil
		},
	}
}

func pay(books, keys *ledger, args []byte) (string, error) {
	var a struct {
		Amount int    `json:"amount"`
		Key    string `json:"key"`
	}
	if json.Unmarshal(args, &a) != nil || a.Amount < 1 || a.Key == "" || len(a.Key) > 64 {
		return "", &tool.Error{Code: tool.CodeValidation, Message: "amount or key"}
	}
	books.mu.Lock()
	defer books.mu.Unlock()
	mark := fmt.Sprint(a.Amount)
	switch known := keys.marks[a.Key]; known {
	case "":
		books.paid++
		keys.marks[a.Key] = mark
	case mark:
	default:
		return "", &tool.Error{Code: "KEY_REUSED", Message: "another amount"}
	}
	return `{"paid":` + mark + `}`, nil
}

var spec = drill.Spec{
	Tool: "pay", Args: jsontext.Value(`{"amount":12}`), Key: drill.KeySpec{Field: "key"}, Bad: []jsontext.Value{jsontext.Value(`{"amount":0}`)},
}

func TestDrillOfGoFuncs(t *testing.T) {
	reports := harnesstest.Drill(t, harnesstest.DrillParams{Target: paying(false), Spec: spec})
	if len(reports) != 1 || reports[0].Totals.Held < 14 || slices.Contains(states(reports[0], "I3 crash", "I10 effect seen"), drill.Held) {
		t.Errorf("nothing here can be killed, and the rest holds\n%s", reports[0].AppendText(nil))
	}
}

func states(r *drill.Report, rows ...string) []drill.State {
	all := r.States()
	var out []drill.State
	for _, name := range rows {
		out = append(out, all[name])
	}
	return out
}

// heard is a test that goes on when it has failed.
type heard struct {
	testing.TB
	errors []string
}

func (h *heard) Error(args ...any) { h.errors = append(h.errors, fmt.Sprint(args...)) }

func (h *heard) Errorf(format string, args ...any) {
	h.errors = append(h.errors, fmt.Sprintf(format, args...))
}

func TestDrillFails(t *testing.T) {
	for _, tc := range []struct {
		why    string
		params harnesstest.DrillParams
		want   []string
	}{
		{
			"keys in memory",
			harnesstest.DrillParams{Target: paying(true), Spec: spec},
			[]string{"breached: I2 two processes: 2 effects, not 1", "breached: I9: 2 effects, not 1"},
		},
		{
			"nothing that applies",
			harnesstest.DrillParams{Target: paying(false), Spec: spec, Only: []string{"I17"}},
			[]string{"pay: none of the invariants applies: nothing was drilled"},
		},
		{
			"an unknown invariant",
			harnesstest.DrillParams{Target: paying(false), Spec: spec, Only: []string{"I0"}},
			[]string{`there is no invariant "I0"`},
		},
	} {
		h := &heard{TB: t}
		harnesstest.Drill(h, tc.params)
		if len(h.errors) != len(tc.want) {
			t.Errorf("%s: %d errors, want %d: %q", tc.why, len(h.errors), len(tc.want), h.errors)
			continue
		}
		for i, want := range tc.want {
			if !strings.Contains(h.errors[i], want) {
				t.Errorf("%s: error %d is %q, want %q", tc.why, i+1, h.errors[i], want)
			}
		}
	}
}
