package start_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/internal/corpus"
	"github.com/retake-harness/retake/harness/internal/start"
	"github.com/retake-harness/retake/harness/internal/suite"
)

// looped tells a recording in which a tool is called and its result sent on.
func looped(f *corpus.File) bool {
	return (f.GoVCR() || f.Foreign()) && len(f.ToolCalls) > 0 && slices.ContainsFunc(f.Calls, func(c corpus.Call) bool { return c.Results > 0 })
}

// Recordings of other people's agents become scenarios that pass as they are: the
// reference loop asks what was asked, with nobody's help. What it cannot lead says
// why, and leaves files that a person can go on with.
func TestScenariosFromTheCorpus(t *testing.T) {
	all := corpus.Open(t, os.Getenv)
	passed, ran, refused := 0, 0, 0
	for _, f := range all.Files {
		if !looped(&f) {
			continue
		}
		m, err := start.From(t.Context(), start.Project{Dirs: suite.Dirs{Root: t.TempDir()}}, all.Join(&f), "led/again")
		if err != nil {
			refused++
			t.Logf("refused: %s: %s", filepath.Base(f.Path), strings.TrimPrefix(err.Error(), all.Folder))
			continue
		}
		ran++
		switch r := m.Result; {
		case r.Verdict == harness.Pass && r.Accepted:
			passed++
		case r.Verdict == harness.Invalid || r.Verdict == harness.Broken || len(r.Failures) == 0:
			t.Errorf("%s: %s: %+v", f.Path, r.Verdict, r.Failures)
		default:
			t.Logf("%s: %s: %s: %.300s", r.Verdict, filepath.Base(f.Path), r.Failures[0].Class, r.Failures[0].What)
		}
	}
	t.Logf("%d recordings with tool loops: %d pass, %d differ, %d cannot be said as a scenario", ran+refused, passed, ran-passed, refused)
	const floor = 28
	if passed < floor {
		t.Errorf("%d pass, want %d", passed, floor)
	}
}
