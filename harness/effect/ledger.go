// Package effect counts what the tools did to the world, apart from what the
// conversation says they did.
//
// The Ledger has a row for each delivery of a write. Deliveries with the same
// principal, tool, key and fingerprint are one effect; without a key each delivery is an
// effect of its own, because nothing could tell the tool that it has seen the
// call before.
package effect

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// Delivery is one arrival of a write at its tool.
type Delivery struct {
	Principal   string // in whose name it was called; "" for nobody in particular
	Tool        string
	Key         string // idempotency key; "" for none
	Fingerprint string // hash of the canonical arguments without the key
	Call        int    // the call's number in the run
	Attempt     int    // the attempt's number in the call
	At          time.Duration
}

// Ledger collects deliveries. Its zero value is ready; it may be used by many
// goroutines.
type Ledger struct {
	mu   sync.Mutex
	rows []Delivery
}

// Wrap puts the ledger before an executor. A read tool is returned as it is.
func (l *Ledger) Wrap(d *tool.Decl, next tool.Executor) tool.Executor {
	if !d.Writes() {
		return next
	}
	return tool.ExecutorFunc(func(ctx context.Context, c tool.Call) (tool.Result, error) {
		l.Deliver(ctx, d, c)
		return next.Execute(ctx, c)
	})
}

// Deliver notes an effect that a call has, whatever its tool is declared to be:
// that of a write that goes out, or one beside the answer of a tool that only
// says that it reads.
func (l *Ledger) Deliver(ctx context.Context, d *tool.Decl, c tool.Call) {
	row := Delivery{Principal: c.Principal, Tool: c.Tool, Call: c.Ordinal, Attempt: c.Attempt, At: clock.Now(ctx)}
	row.Key, row.Fingerprint = identify(d, c.Args)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, row)
}

func identify(d *tool.Decl, args jsontext.Value) (key, fingerprint string) {
	if d.Key == nil {
		return "", jsondoc.Hash(args)
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(args, &members) != nil {
		return "", jsondoc.Hash(args) // no object: the schema check has let it pass, so it stands for itself
	}
	if quoted, ok := members[d.Key.Field]; ok && json.Unmarshal(quoted, &key) != nil {
		key = string(quoted)
	}
	delete(members, d.Key.Field)
	rest, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		rest = args
	}
	return key, jsondoc.Hash(rest)
}

// Deliveries are the rows in the order of the calls and their attempts.
func (l *Ledger) Deliveries() []Delivery {
	l.mu.Lock()
	out := slices.Clone(l.rows)
	l.mu.Unlock()
	slices.SortStableFunc(out, func(a, b Delivery) int {
		if a.Call != b.Call {
			return a.Call - b.Call
		}
		return a.Attempt - b.Attempt
	})
	return out
}

// Effects counts effects by tool. Tools without one are not in the map.
func (l *Ledger) Effects() map[string]int {
	type id struct{ principal, tool, key, fingerprint string }
	seen := map[id]bool{}
	out := map[string]int{}
	for _, r := range l.Deliveries() {
		k := id{r.Principal, r.Tool, r.Key, r.Fingerprint}
		if r.Key != "" && seen[k] {
			continue
		}
		seen[k] = true
		out[r.Tool]++
	}
	return out
}
