package harness

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/retake-harness/retake/harness/clock"
)

// On a real clock recorded time passes at the pace that is asked for; on others it
// is the clock's own.
func TestPace(t *testing.T) {
	for _, row := range []struct {
		why    string
		clock  clock.Mode
		pace   float64
		waited time.Duration
	}{
		{"it is counted alone", clock.ModeReal, 0, 0},
		{"as it was recorded", clock.ModeReal, 1, time.Minute},
		{"ten times as fast", clock.ModeReal, 10, 6 * time.Second},
		{"half as fast", clock.ModeReal, 0.5, 2 * time.Minute},
		{"a virtual clock has its own", clock.ModeVirtual, 10, 0},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := clock.Real(t.Context())
				if row.clock == clock.ModeVirtual {
					ctx = clock.Virtual(t.Context())
				}
				w := &world{params: Params{Pace: row.pace}, result: &Result{Clock: row.clock}}
				watch := clock.Stopwatch()
				if err := w.passing()(ctx, time.Minute); err != nil {
					t.Fatal(err)
				}
				if got := watch(); got != row.waited {
					t.Errorf("waited for %v, want %v", got, row.waited)
				}
			})
		})
	}
}
