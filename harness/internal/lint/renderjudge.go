package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/render"
)

// view judges what was seen of a state.
func (j *judge) view(f *feed, v *render.Seen) {
	j.requests(f, v)
	if v.Markup {
		j.find(&markupRuns, "a text of the answer became an element of its page")
	}
	if f.state == stateMarkup { // the rest is told of the state of results
		return
	}
	switch given := told(f.state); {
	case !v.Looked && len(v.Left) > 0: // that is found
	case !v.Looked:
		j.find(ruleOf(f.state), "given %s, its page is gone", given)
	case len(v.Asked) > 0:
		j.note("given %s, it needs %s, and there is no network here: not judged (%d px wide)", given, join(v.Asked), v.Width)
	case !v.Started && !j.older:
		j.find(ruleOf(f.state), "it never says ui/notifications/initialized, so that a host does not give it %s", given)
	default:
		for _, e := range v.Errors {
			j.find(&scriptError, "given %s: %q", given, e)
		}
		j.seenState(f, v)
	}
}

var ownAddress = regexp.MustCompile(`^https?://example\.com\b`) // of what we have made up

// requests judges what the page tried to load, and where it went.
func (j *judge) requests(f *feed, v *render.Seen) {
	for _, refused := range v.Refused {
		directive, address, _ := strings.Cut(refused, " ")
		switch {
		case f.made && ownAddress.MatchString(address):
		case address == "file":
			j.find(&undeclaredRequest, "it loads something by an address without a host (%s), where no host has anything", directive)
		case strings.Contains(address, "://"):
			j.find(&undeclaredRequest, "it asks %q, which its CSP does not let it (%s)", address, directive)
		}
	}
	for _, address := range v.Left {
		j.find(&undeclaredRequest, "it leaves its page for %q by itself", address)
	}
}

var rawWords = regexp.MustCompile(`\bundefined\b|\bNaN\b|\[object \w+\]`)

func (j *judge) seenState(f *feed, v *render.Seen) {
	given, rule := told(f.state), ruleOf(f.state)
	for _, raw := range rawWords.FindAllString(v.Text, -1) {
		if !strings.Contains(string(f.result), raw) {
			j.find(&rawValue, "given %s, it shows %q", given, raw)
		}
	}
	if v.Wide > 1 {
		j.find(&overflows, "given %s, it is %d px wider than its frame", given, v.Wide)
	}
	switch {
	case len(v.Waiting) > 0:
		j.find(rule, "given %s, it still waits: %s", given, join(v.Waiting))
	case strings.TrimSpace(v.Text) == "" && v.Drawn == 0:
		j.find(rule, "given %s, it shows nothing", given)
	case v.Drawn > 0: // what is drawn nobody can read
	default:
		j.expected(f, v)
	}
}

// expected judges whether what has to be there can be read.
func (j *judge) expected(f *feed, v *render.Seen) {
	switch f.state {
	case stateResults:
		j.results(f, v)
	case stateEmpty:
		var reasons []field
		for _, t := range f.texts {
			if reasonName.MatchString(t.last()) {
				reasons = append(reasons, t)
			}
		}
		if len(reasons) > 0 && !slices.ContainsFunc(reasons, func(t field) bool { return legible(v.Text, t.text) }) {
			j.find(&rendersEmpty, "it does not show the reason why nothing was found (%s)", reasons[0].path)
		}
	case stateError:
		if !leadsOn(f, v) {
			j.find(&errorNext, "given an error, it does not say what to do next")
		}
	}
}

func (j *judge) results(f *feed, v *render.Seen) {
	binds := j.widget.shown().binds
	if len(binds) == 0 {
		if len(f.texts) > 0 && !slices.ContainsFunc(f.texts, func(t field) bool { return legible(v.Text, t.text) }) {
			j.find(&rendersResults, "given results, it shows nothing of them")
		}
		return
	}
	for _, t := range f.texts {
		if slices.Contains(binds, t.path) && !legible(v.Text, t.text) {
			j.find(&rendersResults, "it does not show %q, which is bound to %s", t.text, t.path)
		}
	}
}

// leadsOn tells whether an error has something to press, or words besides its own
// and besides headings. An example's own words count: somebody has chosen them.
func leadsOn(f *feed, v *render.Seen) bool {
	if v.Controls > 0 {
		return true
	}
	words := 0
	for _, t := range v.Texts {
		own := f.made && slices.ContainsFunc(f.texts, func(e field) bool { return legible(t.Text, e.text) })
		if !t.Heading && !own {
			words += len(strings.Fields(t.Text))
		}
	}
	return words > 2
}

// legible tells whether a text can be read in another, whatever its blanks and case:
// styles change both.
func legible(text, want string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return strings.Contains(plain(text), plain(want))
}
