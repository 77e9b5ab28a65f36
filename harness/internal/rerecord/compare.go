package rerecord

import (
	"fmt"
	"math"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Course is what a model did in a run, turn by turn.
type Course struct {
	Turns []CourseTurn
	Usage wire.Usage
}

// CourseTurn is one answer of the model that was none of an error.
type CourseTurn struct {
	Stop  wire.Stop
	Text  string
	Calls []CourseCall
}

// CourseCall is a call in a turn; Args are canonical JSON, or what came.
type CourseCall struct{ Name, Args string }

func (c *Course) add(r *wire.Response) {
	if r == nil || r.Err != nil {
		return
	}
	t := CourseTurn{Stop: r.Stop, Text: r.Text()}
	for _, b := range r.Calls() {
		args := b.ArgsText
		if canonical, err := jsondoc.Canonical(nil, b.Args); err == nil && b.Args != nil {
			args = string(canonical)
		}
		t.Calls = append(t.Calls, CourseCall{b.Name, args})
	}
	c.Turns = append(c.Turns, t)
	c.Usage.Add(r.Usage)
}

// CourseOf is the course of a run.
func CourseOf(r *harness.Result) *Course {
	c := &Course{}
	for _, m := range r.Models {
		c.add(m.Response)
	}
	return c
}

// CourseIn is the course that a cassette has recorded.
func CourseIn(f *cassette.File) (*Course, error) {
	c := &Course{}
	for i := range f.Interactions {
		in := &f.Interactions[i]
		api, ok := codec.Detect(in.Request.Method, in.Request.URL, in.Request.Body)
		if !ok || in.Response.Code == 0 || in.Response.Code >= 400 {
			continue
		}
		k, _ := codec.For(api)
		text, err := wire.Plain(in.Response.Header.Get("Content-Encoding"), in.Response.Body)
		if err != nil {
			return nil, failure.Errorf(failure.CassetteInvalid, "%s: interaction %d: %w", f.Name, i+1, err)
		}
		r, err := k.DecodeResponse(in.Response.Code, in.Response.Header.Get("Content-Type"), text)
		if err == nil { // what is no answer of the API is no turn
			c.add(r)
		}
	}
	return c, nil
}

// Shares of the recorded usage by which a fresh one may differ before it is told.
const (
	usageInfo = 0.10
	usageWarn = 0.50
)

// Compare tells how a fresh course differs from the recorded one: calls that
// changed, and another end, are errors; other arguments and another number of turns
// warnings; another text, which is a model's right, is told. Usage is told when it
// has moved by a tenth, and a warning by half. None: the course has the same shape.
func Compare(was, is *Course) []Finding {
	d := &Drifted{}
	add := func(t Tier, what, format string, args ...any) {
		d.Findings = append(d.Findings, Finding{t, what, fmt.Sprintf(format, args...)})
	}
	a, b := was.calls(), is.calls()
	switch {
	case names(a) != names(b):
		add(Error, "calls", "the calls have changed: was %s, is %s", orNone(names(a)), orNone(names(b)))
	case len(was.Turns) != len(is.Turns):
		add(Warn, "turns", "the model took %d turns, and takes %d", len(was.Turns), len(is.Turns))
	}
	if names(a) == names(b) {
		for i := range a {
			if a[i].Args != b[i].Args {
				add(Warn, "arguments", "call %d, %s: the arguments have changed: %s", i+1, a[i].Name, difference(a[i].Args, b[i].Args))
			}
		}
	}
	if x, y := was.last(), is.last(); x.Stop != y.Stop {
		add(Error, "stop", "the last turn ended as %s, and ends as %s", orNone(string(x.Stop)), orNone(string(y.Stop)))
	} else if x.Text != y.Text {
		add(Info, "text", "the last text has changed: %s", difference(quoted(x.Text), quoted(y.Text)))
	}
	if tier, text := usage(was.Usage, is.Usage); tier != "" {
		add(tier, "usage", "%s", text)
	}
	d.sort()
	return d.Findings
}

// usage compares what was used, all kinds of tokens together.
func usage(was, is wire.Usage) (Tier, string) {
	a, b := was.Total(), is.Total()
	if a == 0 || b == 0 {
		return "", ""
	}
	moved := float64(b-a) / float64(a)
	text := fmt.Sprintf("the usage has moved by %+.0f %%: %d tokens were used, now %d", moved*100, a, b)
	switch share := math.Abs(moved); {
	case share >= usageWarn:
		return Warn, text
	case share >= usageInfo:
		return Info, text
	}
	return "", ""
}

func (c *Course) calls() []CourseCall {
	var out []CourseCall
	for i := range c.Turns {
		out = append(out, c.Turns[i].Calls...)
	}
	return out
}

func (c *Course) last() CourseTurn {
	if len(c.Turns) == 0 {
		return CourseTurn{}
	}
	return c.Turns[len(c.Turns)-1]
}

func names(calls []CourseCall) string {
	out := make([]string, len(calls))
	for i := range calls {
		out[i] = calls[i].Name
	}
	return strings.Join(out, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// difference is the first one of two JSON texts.
func difference(a, b string) string {
	all := jsondoc.Diff([]byte(a), []byte(b), 0)
	if len(all) == 0 {
		return "none"
	}
	d := all[0]
	out := strings.TrimSpace(fmt.Sprintf("%s was %s, is %s", d.Pointer, orNone(d.A), orNone(d.B)))
	if len(all) > 1 {
		out += fmt.Sprintf("; and %d more", len(all)-1)
	}
	return out
}
