package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/render"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// Rendering says how the widgets of a server are shown.
type Rendering struct {
	// Show shows a page: the method of a render.Browser.
	Show func(context.Context, render.Page) ([]render.View, error)
	// Example is what a project keeps to show a state with: structuredContent, or a
	// whole result. nil, or a nil value: it keeps none.
	Example func(uri, state string) (jsontext.Value, error)
	// Answers are what tools have really answered, by their names: results.
	Answers map[string]mcptool.Answer
}

// Picture is one that was taken of a widget.
type Picture struct {
	Widget, State string
	Width         int
	Dark          bool
	PNG           []byte
}

// Shown is what came of showing widgets.
type Shown struct {
	Findings []Finding
	Pictures []Picture
	Notes    []string // what was not shown or not judged, and why
}

// Render shows each widget in each of its states, light and dark, and judges what is
// seen. An error is of class world, or interrupted.
func (s *Set) Render(ctx context.Context, r *Rendering) (Shown, error) {
	var out Shown
	for i := range s.Widgets {
		if w := &s.Widgets[i]; w.Err == "" {
			j := &judge{set: s, widget: w, out: &out, seen: map[string]*Finding{}, widths: map[string][]int{}}
			if err := j.widgetStates(ctx, r); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// judge holds one widget against the rules.
type judge struct {
	set    *Set
	widget *Widget
	out    *Shown
	seen   map[string]*Finding
	order  []string
	widths map[string][]int // at which sizes it was found
	width  int
	older  bool
}

func (j *judge) note(format string, args ...any) {
	j.out.Notes = append(j.out.Notes, fmt.Sprintf("server %q, widget %q: ", j.set.Name, j.widget.URI)+fmt.Sprintf(format, args...))
}

func (j *judge) find(r *Rule, format string, args ...any) {
	f := r.finding(j.set.widgetPlace(j.widget.URI, "shown"), j.set.on(j.widget.URI), format, args...)
	key := f.Rule + f.Message
	if j.seen[key] == nil {
		j.seen[key] = &f
		j.order = append(j.order, key)
	}
	if j.width != 0 && !slices.Contains(j.widths[key], j.width) {
		j.widths[key] = append(j.widths[key], j.width)
	}
}

// widgetStates shows the widget in each state.
func (j *judge) widgetStates(ctx context.Context, r *Rendering) error {
	users := (&widgetCheck{set: j.set, widget: j.widget}).users()
	if len(users) == 0 {
		j.note("no tool names it, so that it is not shown")
		return nil
	}
	j.older = strings.ReplaceAll(j.widget.MIME, " ", "") == mimeOld
	for _, state := range append(States(), stateMarkup) {
		f, err := j.feed(users[0], r, state)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		if err := j.show(ctx, r, f); err != nil {
			return err
		}
	}
	for _, key := range j.order {
		f := *j.seen[key]
		if n := len(j.widths[key]); n > 0 && n < len(render.Sizes()) {
			f.Message += fmt.Sprintf(" (%d px wide)", j.widths[key][0])
		}
		j.out.Findings = append(j.out.Findings, f)
	}
	return nil
}

// feed is what brings the widget into a state: the project's, a real answer, or made
// up; nil where there is none.
func (j *judge) feed(t *Tool, r *Rendering, state string) (*feed, error) {
	if r.Example != nil && state != stateMarkup {
		value, err := r.Example(j.widget.URI, state)
		if err != nil {
			return nil, err
		}
		if value != nil {
			f := givenFeed(state, value)
			return &f, nil
		}
	}
	if a, ok := r.Answers[t.Name]; ok && state == stateResults && a.Err == nil && !a.IsError && a.Structured != nil {
		f := givenFeed(state, a.Structured)
		return &f, nil
	}
	f, why := madeFeed(t, state)
	if why != "" {
		if state != stateMarkup {
			j.note("the state %s is not shown: %s; give an example", state, why)
		}
		return nil, nil
	}
	return &f, nil
}

// show shows one state, light and dark; what is judged is the first.
func (j *judge) show(ctx context.Context, r *Rendering, f *feed) error {
	page := render.Page{HTML: j.widget.HTML, Policy: j.policy(), Older: j.older, Input: f.input, Result: f.result}
	for _, dark := range []bool{false, true} {
		if dark && f.state == stateMarkup {
			break
		}
		page.Dark = dark
		views, err := r.Show(ctx, page)
		if errors.Is(err, render.ErrHangs) {
			j.width = 0
			j.find(ruleOf(f.state), "given %s, its script never comes to rest", told(f.state))
			return nil
		}
		if err != nil {
			return failure.Errorf(failure.Of(err), "the widget %q: showing the state %s: %w", j.widget.URI, f.state, err)
		}
		for i := range views {
			v := &views[i]
			if !dark {
				j.width = v.Width
				j.view(f, &v.Seen)
			}
			if f.state != stateMarkup {
				j.out.Pictures = append(j.out.Pictures, Picture{j.widget.URI, f.state, v.Width, dark, v.Picture})
			}
		}
	}
	return nil
}

// policy is what the widget's CSP lets it load.
func (j *judge) policy() render.Policy {
	var p render.Policy
	lists := map[string]*[]string{connectDomains: &p.Connect, resourceDomains: &p.Resource, frameDomains: &p.Frame, baseURIDomains: &p.BaseURI}
	j.widget.origins(func(_, list, origin string) {
		if l := lists[list]; l != nil && !slices.Contains(*l, origin) {
			*l = append(*l, origin)
		}
	})
	return p
}

func ruleOf(state string) *Rule {
	switch state {
	case stateEmpty:
		return &rendersEmpty
	case stateError:
		return &rendersError
	default:
		return &rendersResults
	}
}

// told is what a widget is given, in words.
func told(state string) string {
	switch state {
	case stateEmpty:
		return "an empty answer"
	case stateError:
		return "an error"
	case stateMarkup:
		return "results with markup in their texts"
	default:
		return "results"
	}
}
