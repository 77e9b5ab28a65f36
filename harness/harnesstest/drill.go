package harnesstest

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/internal/drillfile"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/redact"
)

// DrillParams say what to drill. The zero value takes every drill.yaml beside the
// scenarios of the working directory's project.
type DrillParams struct {
	Dir    string   // the project's folder; "" is the working directory
	Drills []string // names, folders or patterns; none: all
	File   string   // a file of drills instead of those beside scenarios

	// Target and Spec are a drill of Go code (see drill.InProcess), instead of files.
	Target drill.Target
	Spec   drill.Spec

	Only    []string      // invariants, like I2; none: all
	Repeat  int           // how often each drill is made; 0 is once
	Timeout time.Duration // after which a call hangs; 0: as the file says, or 10 s
}

// Drill tries tools that write for idempotency, and fails tb for each invariant
// that is breached, with the calls that show it. On a *testing.T each drill is a
// subtest, and each row of it one below: what does not apply is skipped, with its
// reason. The reports are those of the drills that could be made.
//
// A file that counts in a database needs its driver: import modernc.org/sqlite or
// github.com/jackc/pgx/v5/stdlib for their effect.
func Drill(tb testing.TB, p DrillParams) []*drill.Report {
	tb.Helper()
	drills, hidden, done, err := p.open()
	tb.Cleanup(done)
	if err != nil {
		tb.Fatalf("retake: %v", err)
	}
	var out []*drill.Report
	for _, d := range drills {
		one := func(tb testing.TB) {
			tb.Helper()
			if r := d.run(tb, p, hidden); r != nil {
				out = append(out, r)
			}
		}
		for range max(p.Repeat, 1) {
			if t, ok := tb.(*testing.T); ok {
				t.Run(d.name, func(t *testing.T) { one(t) })
				continue
			}
			one(tb)
		}
	}
	return out
}

// drilled is a drill of a file, or of Go code.
type drilled struct {
	name string
	file *drillfile.Drill // nil: Go code
}

// open finds the drills; done is called when they are over.
func (p *DrillParams) open() (drills []drilled, hidden *redact.Values, done func(), err error) {
	if p.Target != nil {
		return []drilled{{name: cmp.Or(p.Spec.Name, p.Spec.Tool)}}, nil, func() {}, nil
	}
	files, hidden, done, err := p.files()
	for _, f := range files {
		drills = append(drills, drilled{f.Name, f})
	}
	return drills, hidden, done, err
}

func (p *DrillParams) files() (files []*drillfile.Drill, hidden *redact.Values, done func(), err error) {
	dirs := suite.Dirs{Root: p.Dir}
	if p.File != "" {
		c, err := suite.OpenConfig(dirs, os.Getenv)
		if err != nil {
			return nil, nil, func() {}, err
		}
		o := suite.DrillOptions(c, p.Dir, os.Getenv)
		if files, err = drillfile.Load(p.File, "", o); err == nil {
			files, err = suite.SelectDrills(files, p.Drills, "in "+p.File)
		}
		return files, c.Hidden(), o.Close, err
	}
	s, err := suite.Open(dirs, os.Getenv)
	if err != nil {
		return nil, nil, func() {}, err
	}
	files, err = s.Drills(p.Drills)
	return files, s.Config.Hidden(), s.Close, err
}

// run makes one drill; nil when it cannot be made.
func (d *drilled) run(tb testing.TB, p DrillParams, hidden *redact.Values) *drill.Report {
	tb.Helper()
	params := drill.Params{Spec: p.Spec, Target: p.Target}
	if d.file != nil {
		var err error
		if params, err = d.file.Params(tb.Context()); err != nil {
			tb.Errorf("retake: %s", hidden.Text(err.Error()))
			return nil
		}
	}
	params.Only = p.Only
	if p.Timeout > 0 {
		params.Timeout = p.Timeout
	}
	r, err := drill.Run(tb.Context(), params)
	if err != nil {
		tb.Errorf("retake: %s", hidden.Text(err.Error()))
	}
	if r == nil {
		return nil
	}
	if r.Totals.Applied() == 0 && err == nil {
		tb.Errorf("retake: %s: none of the invariants applies: nothing was drilled", d.name)
	}
	for i := range r.Rows {
		tellRow(tb, &r.Rows[i], hidden)
	}
	return r
}

// tellRow tells a row, in a subtest where there can be one.
func tellRow(tb testing.TB, row *drill.Row, hidden *redact.Values) {
	tb.Helper()
	t, ok := tb.(*testing.T)
	if !ok {
		if row.State == drill.Breached {
			tb.Error(hidden.Text(string(row.AppendText(nil))))
		}
		return
	}
	t.Run(strings.ReplaceAll(row.Name(), " ", "_"), func(t *testing.T) {
		switch row.State {
		case drill.Breached:
			t.Error(hidden.Text("\n" + string(row.AppendText(nil))))
		case drill.Warning:
			t.Log(hidden.Text("\n" + string(row.AppendText(nil))))
		case drill.NotApplicable, drill.NotRun:
			t.Skip(hidden.Text(fmt.Sprintf("%s: %s", row.State, row.What)))
		case drill.Held:
		}
	})
}
