// Package fault is the catalogue of what goes wrong around an agent, and the
// wrappers that make it happen at an exact place: on the wire between agent and
// model, and around a tool call.
//
// A Spec names a fault, an Address and parameters. An Injector arms specs for one
// run: its Model wraps the http.RoundTripper that answers the model's requests,
// its Tool the executor of a tool. Both lie outside the recordings, so a request
// that is answered with an injected error uses up no recording, and one cassette
// serves every fault. What struck, and where, is told by Fired.
//
// Nothing here is left to chance: where a Spec asks for it, it is drawn from the
// run's seed and the place, in whatever order the calls come.
package fault

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/tool"
)

// Side says where a fault strikes.
type Side string

// The sides.
const (
	SideModel Side = "model" // the HTTP seam
	SideTool  Side = "tool"  // around a tool call
	SideHost  Side = "host"  // the program that runs the agent
)

// Fault is an entry of the catalogue.
type Fault struct {
	Name   string // stable: scenarios and reports store it
	What   string // what happens, in a clause
	Breaks string // what breaks in real life
	Right  string // what a right loop does

	// Takes are the parameters that fit, each with what it is when left out.
	Takes []Param
	// Kinds are the variants that the parameter kind names, the default first; where
	// the default depends on the place, Takes says so.
	Kinds []string
	// Retried says that a loop may try again after it, so that a further attempt
	// is a place, too.
	Retried bool
	// Lasting says that, once it has struck, it goes on with the later model calls.
	Lasting bool
	// Seen says that the model sees what came of it: its recorded answers end
	// there.
	Seen bool
	// Inside says where in a streamed answer it may strike.
	Inside Inside
	// Waits is how long the longest wait of the fault is with these parameters, at a
	// tool with this timeout (0: none), which ends what it can; nil
	// for none. Where the clock is real, more than its cap is not waited for.
	Waits func(p Params, timeout time.Duration) time.Duration
	// FoundBy is the rule of the contract that has to report the fault: no agent
	// can prevent it, and to find it is what is asked for. "" for none.
	FoundBy string

	// declared says why the fault cannot strike any call of a tool that is declared
	// so, "" when it can. nil takes every tool.
	declared func(d *tool.Decl) string
	// fits says why the fault cannot strike at the place, "" when it can. nil fits
	// everywhere on its side.
	fits func(p *Place, s *Spec) string
	// turn says that fits looks at the turn that asked for a tool call.
	turn bool
	// answered says that fits looks at what the tool answers: the tool has done its
	// work before the fault strikes, and an answer that is an error is let through.
	answered bool
	// rework makes another result of what the tool answers, in the place of tool and
	// fits; why says why there is none. It implies answered.
	rework func(p *Place, s *Spec) (content, why string)
	// partly says that what arrives of the answer looks like one: an agent may go on
	// with it, and the model then sees it.
	partly bool
	// profile says that the fault draws by itself which of the calls it strikes, and
	// that no address means every call.
	profile bool
	// One of the three, by where the fault strikes; none for one that strikes the run
	// as a whole.
	model func(s *strike) (*http.Response, error)
	tool  func(ctx context.Context, s *toolStrike) (tool.Result, error)
	// approval makes another decision of a person's approval of a tool call.
	approval func(d tool.Decision) tool.Decision
}

// Inside says what a fault does with the events of a stream.
type Inside string

// The ways.
const (
	NotInside  Inside = ""       // it strikes the answer as a whole
	MayInside  Inside = "may"    // with an event it strikes there, else before the answer
	OnlyInside Inside = "inside" // it strikes streams alone
)

// Param is a parameter that a fault takes.
type Param struct {
	Name    string // as a spec writes it
	Default string // what holds when it is left out, in words
}

// Side is where the fault strikes. Those of the host that are about one tool call
// strike around it.
func (f *Fault) Side() Side {
	switch {
	case f.model != nil:
		return SideModel
	case f.tool != nil, f.rework != nil, f.approval != nil:
		return SideTool
	}
	return SideHost
}

// Whole tells that the fault is of the whole run: it has no place of its own.
func (f *Fault) Whole() bool { return f.profile || f.Side() == SideHost }

// Fits says why the fault cannot strike at p with these parameters, "" when it
// can.
func (f *Fault) Fits(p *Place, s *Spec) string {
	_, why := f.fitting(p, s)
	return why
}

// fitting is Fits, beside what a fault that reworks a result makes of it.
func (f *Fault) fitting(p *Place, s *Spec) (content, why string) {
	switch {
	case p.Side != f.Side():
		return "", "a fault of the " + string(f.Side()) + "'s side"
	case f.Inside == OnlyInside && !p.Stream:
		return "", "the answer is no stream"
	case s.Params.Kind != "" && !slices.Contains(f.Kinds, s.Params.Kind):
		return "", fmt.Sprintf("there is no kind %q of it; there is %s", s.Params.Kind, strings.Join(f.Kinds, ", "))
	case (f.answered || f.rework != nil) && p.Result.Err != nil:
		return "", "the tool answers with an error of its own"
	case f.declared != nil && f.declared(p.Decl()) != "":
		return "", f.declared(p.Decl())
	case f.rework != nil:
		return f.rework(p, s)
	case f.fits == nil:
		return "", ""
	}
	return "", f.fits(p, s)
}

// FitsTool says why the fault cannot strike any call of a tool that is declared so,
// "" when it can.
func (f *Fault) FitsTool(d *tool.Decl) string {
	if f.declared == nil {
		return ""
	}
	return f.declared(d)
}

// Catalogue lists all faults: the model's side, the tools', the host's.
func Catalogue() []*Fault { return catalogue }

// Lookup finds a fault by its name.
func Lookup(name string) (*Fault, bool) {
	for _, f := range catalogue {
		if f.Name == name {
			return f, true
		}
	}
	return nil, false
}
