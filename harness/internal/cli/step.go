package cli

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/github"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// step is the step of a workflow of GitHub that this command is. nil is none.
type step struct {
	sys         IO
	guard       *github.Guard
	annotations []github.Annotation
}

func beginStep(sys IO, wanted bool) (*step, error) {
	if !wanted || !github.On(sys.Getenv) {
		return nil, nil //nolint:nilnil // none is nil
	}
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return nil, failure.Errorf(failure.World, "random number that keeps what is printed from being read as commands: %w", err)
	}
	return &step{sys: sys, guard: github.Begin(sys.Stdout, "retake-"+hex.EncodeToString(token[:]))}, nil
}

func (s *step) end() {
	if s != nil {
		s.guard.End()
	}
}

// add keeps what did not hold in a result.
func (s *step) add(r *harness.Result) {
	if s == nil || r.Verdict == harness.NotRun {
		return
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		title := report.TitleOf(r)
		if r.Model != "" {
			title += " [" + r.Model + "]"
		}
		a := github.Annotation{Title: transcript.Safe(title + ": " + string(f.Class)), Message: string(transcript.AppendSafe(nil, message(f), 0))}
		where := f.Where
		if where == "" { // of a file that cannot be read it stands before the message
			where, _, _ = strings.Cut(f.What, ": ")
		}
		if a.File, a.Line, a.Column = place(where); a.Line == 0 {
			a.File = ""
		}
		if r.Scenario != nil && a.Line == 0 {
			a.File, a.Line = r.Scenario.File, 1
		}
		a.Title, a.Message = r.Secrets.Text(a.Title), r.Secrets.Text(a.Message)
		s.annotations = append(s.annotations, a)
	}
}

func message(f *harness.Failure) string {
	text := f.What
	if f.Where != "" {
		text += "\n" + f.Where
	}
	if f.Next != "" {
		text += "\n" + f.Next
	}
	return text
}

// placed is file:line:column, or file:line.
var placed = regexp.MustCompile(`^(.+?):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?$`)

// place takes apart where something is; the numbers are 0 where there are none.
func place(where string) (file string, line, column int) {
	m := placed.FindStringSubmatch(where)
	if m == nil {
		return where, 0, 0
	}
	line, _ = strconv.Atoi(m[2])   // digits
	column, _ = strconv.Atoi(m[3]) // digits, or none
	return m[1], line, column
}

// tell writes the annotations and the summary of the step.
func (s *step) tell(summary []byte) error {
	if s == nil {
		return nil
	}
	s.end()
	github.Annotate(s.sys.Stdout, s.sys.Getenv("GITHUB_WORKSPACE"), s.annotations)
	return github.AppendSummary(s.sys.Getenv("GITHUB_STEP_SUMMARY"), summary)
}
