package report_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/report"
)

// A report is written as it comes: an entry leaves behind some figures, not itself.
// RETAKE_MANY=50000 makes it that of ten thousand scenarios with five trials.
func TestMemoryOfMany(t *testing.T) {
	many := 4000
	if n, err := strconv.Atoi(os.Getenv("RETAKE_MANY")); err == nil {
		many = n
	}
	w, err := report.New(report.Options{Dir: t.TempDir(), ID: "many"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	add := func(i int) {
		err := w.Add(result(fmt.Sprintf("folder-%d/scenario-%d", i/50000, i), "m", func(r *harness.Result) {
			r.TaskID = fmt.Sprintf("t%026d", i)
			for n := range 8 {
				r.AttemptIDs = append(r.AttemptIDs, fmt.Sprintf("%s-a%d", r.TaskID, n))
			}
			failed("what is wrong with it is told in a sentence of the usual length")(r)
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 { // until the parts that have a bound are at theirs
		add(i)
	}
	before := heap()
	for i := range many {
		add(1000 + i)
	}
	grown := heap() - before
	t.Logf("%d entries leave %d bytes, %d each", many, grown, grown/int64(many))
	if each := grown / int64(many); each > 100 {
		t.Errorf("an entry leaves %d bytes", each)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
