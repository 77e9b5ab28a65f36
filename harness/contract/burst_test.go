package contract_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// burst is a turn of n calls, each of which ran. Without ids they are told apart by
// what they ask for.
func burst(n int, ids bool) contract.Evidence {
	var blocks []wire.Block
	var calls []*journal.ToolCall
	for i := range n {
		b := callWith("", "f", fmt.Sprintf(`{"n":%d}`, i))
		if ids {
			b.ID = fmt.Sprint("call_", i)
		}
		blocks = append(blocks, b)
		calls = append(calls, &journal.ToolCall{Ordinal: i + 1, At: time.Minute, Tool: b.Name, CallID: b.ID, Args: b.Args})
	}
	e := evidence(asked(calling(blocks...), user(text("q"))))
	e.Calls = calls
	return e
}

func checkCost(e contract.Evidence) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	contract.Check(contract.Terms{}, e)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Each call of a turn was looked for in a copy of the whole turn.
func TestABurstCostsItsLength(t *testing.T) {
	for _, ids := range []bool{true, false} {
		few, many := checkCost(burst(100, ids)), checkCost(burst(1000, ids))
		if many > 30*few {
			t.Errorf("ids %v: 100 calls take %d bytes, 1,000 take %d", ids, few, many)
		}
	}
}
