package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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
	var shows []*showing
	for _, state := range append(States(), stateMarkup) {
		f, ok, err := j.feed(users[0], r, state)
		if err != nil {
			return err
		}
		if ok {
			shows = append(shows, &showing{feed: &f})
		}
		if ok && state != stateMarkup { // markup is markup in the dark, too
			shows = append(shows, &showing{feed: &f, dark: true})
		}
	}
	j.show(ctx, r, shows)
	for _, s := range shows {
		if err := j.judge(s); err != nil {
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
// up; ok is false where there is none.
func (j *judge) feed(t *Tool, r *Rendering, state string) (f feed, ok bool, err error) {
	if r.Example != nil && state != stateMarkup {
		value, err := r.Example(j.widget.URI, state)
		if err != nil {
			return feed{}, false, err
		}
		if value != nil {
			return givenFeed(state, value), true, nil
		}
	}
	if a, ok := r.Answers[t.Name]; ok && state == stateResults && a.Err == nil && !a.IsError && a.Structured != nil {
		return givenFeed(state, a.Structured), true, nil
	}
	f, why := madeFeed(t, state)
	if state == stateMarkup && (why != "" || len(f.texts) == 0) {
		return feed{}, false, nil
	}
	if why != "" {
		j.note("the state %s is not shown: %s; give an example", state, why)
	}
	return f, why == "", nil
}

// showing is the widget in one state, light or dark, and what came of it.
type showing struct {
	feed  *feed
	dark  bool
	views []render.View
	err   error
}

// atOnce is how many browsers run at the same time: they wait more than they work.
const atOnce = 3

func (j *judge) show(ctx context.Context, r *Rendering, shows []*showing) {
	var wait sync.WaitGroup
	policy := j.policy()
	free := make(chan struct{}, atOnce)
	for _, s := range shows {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			page := render.Page{HTML: j.widget.HTML, Policy: policy, Older: j.older, Result: s.feed.result, Dark: s.dark}
			s.views, s.err = r.Show(ctx, page)
		})
	}
	wait.Wait()
}

// judge keeps the pictures, and judges what was seen in the light.
func (j *judge) judge(s *showing) error {
	f := s.feed
	switch {
	case errors.Is(s.err, render.ErrHangs):
		j.width = 0
		j.find(ruleOf(f.state), "given %s, its script never comes to rest", told(f.state))
		return nil
	case s.err != nil:
		return failure.Errorf(failure.Of(s.err), "the widget %q: showing the state %s: %w", j.widget.URI, f.state, s.err)
	}
	for i := range s.views {
		v := &s.views[i]
		if !s.dark {
			j.width = v.Width
			j.view(f, &v.Seen)
		}
		if f.state != stateMarkup {
			j.out.Pictures = append(j.out.Pictures, Picture{j.widget.URI, f.state, v.Width, s.dark, v.Picture})
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
