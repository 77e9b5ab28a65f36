package scenario

import (
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/transcript"
)

// calls are the expected calls as they are written.
type calls struct {
	match transcript.Mode
	list  []call
}

type call struct {
	tool       text
	args       []yamlwalk.Entry[yamlwalk.Tree]
	mode       transcript.ArgsMode
	undeclared bool
}

var expectedCalls = yamlwalk.Either("a list of calls or {match, list}",
	yamlwalk.Map(yamlwalk.List(expectedCall), func(_ yamlwalk.Value, list []call) (calls, bool) {
		return calls{transcript.Strict, list}, true
	}),
	yamlwalk.Object[calls]{
		Is: "expected calls",
		Fields: []yamlwalk.Field[calls]{
			yamlwalk.Must("match", "Say how the calls made are held against the list.", yamlwalk.Enum(transcript.Strict, transcript.Unordered, transcript.Subset, transcript.Superset), func(c *calls) *transcript.Mode { return &c.match }),
			yamlwalk.Must("list", "The expected calls.", yamlwalk.List(expectedCall), func(c *calls) *[]call { return &c.list }),
		},
	}.Kind())

var expectedCall = yamlwalk.Either("a tool's name or {tool, args}",
	yamlwalk.Map(yamlwalk.At(yamlwalk.Text()), func(_ yamlwalk.Value, name text) (call, bool) { return call{tool: name}, true }),
	yamlwalk.Object[call]{
		Is: "an expected call",
		Fields: []yamlwalk.Field[call]{
			yamlwalk.Must("tool", "Name the tool.", yamlwalk.At(yamlwalk.Text()), func(c *call) *text { return &c.tool }),
			yamlwalk.F("args", "Arguments: each a value, or one of {date}, {contains}, {regexp}, {number, tolerance}, {equals}.", yamlwalk.Entries("arguments", nil, yamlwalk.JSON()), func(c *call) *[]yamlwalk.Entry[yamlwalk.Tree] { return &c.args }),
			yamlwalk.F("args_match", "How the arguments are compared: exact (default), the call's are a subset or a superset of these, or ignore.", yamlwalk.Enum(transcript.ArgsExact, transcript.ArgsSubset, transcript.ArgsSuperset, transcript.ArgsIgnore), func(c *call) *transcript.ArgsMode { return &c.mode }),
			yamlwalk.F("undeclared", "The model calls a tool that the scenario does not declare.", yamlwalk.Bool(), func(c *call) *bool { return &c.undeclared }),
		},
	}.Kind())

const allowsAll = "allows every number; give max, or a min of at least 1"

// counts is a number or {min, max}.
var counts = yamlwalk.Either("a number or {min, max}",
	yamlwalk.Map(yamlwalk.Int(0), func(_ yamlwalk.Value, n int) (*Range, bool) { return &Range{n, n}, true }),
	yamlwalk.Map(yamlwalk.Object[[2]*int]{
		Is: "a range", Empty: allowsAll,
		Fields: []yamlwalk.Field[[2]*int]{
			yamlwalk.F("min", "The least.", yamlwalk.Optional(yamlwalk.Int(0)), func(r *[2]*int) **int { return &r[0] }),
			yamlwalk.F("max", "The most.", yamlwalk.Optional(yamlwalk.Int(0)), func(r *[2]*int) **int { return &r[1] }),
		},
	}.Kind(), func(v yamlwalk.Value, r [2]*int) (*Range, bool) {
		out := Range{0, math.MaxInt}
		if r[0] != nil {
			out.Min = *r[0]
		}
		if r[1] != nil {
			out.Max = *r[1]
		}
		switch {
		case out.Min > out.Max:
			v.Failf("min is %d and max only %d; swap them", out.Min, out.Max)
		case out == (Range{0, math.MaxInt}):
			v.Failf("%s", allowsAll)
		}
		return &out, true
	}))

var expression = yamlwalk.Map(yamlwalk.Text(), func(v yamlwalk.Value, s string) (*regexp.Regexp, bool) {
	re, err := regexp.Compile(s)
	if err != nil {
		v.Failf("%q is no regular expression: %s", s, reason(err))
	}
	return re, err == nil
})

// reason words a regular expression's error.
func reason(err error) string {
	if se, ok := errors.AsType[*syntax.Error](err); ok {
		return se.Code.String()
	}
	return err.Error()
}

// matchers are the words that make a mapping a matcher instead of a value.
var matchers = []string{"date", "contains", "regexp", "number", "tolerance", "equals"}

// expected reads the calls' arguments and checks their tools.
func (b *builder) expected(c *calls) *transcript.Match {
	if c == nil {
		return nil
	}
	m := &transcript.Match{Mode: c.match, Calls: make([]transcript.ExpectedCall, len(c.list))}
	for i, want := range c.list {
		switch declared := b.declared(want.tool.V); {
		case want.undeclared && declared:
			b.f.Failf(want.tool.At, "tool %q is declared; drop undeclared", want.tool.V)
		case !want.undeclared && want.tool.V != "":
			b.needTool(want.tool, "; where the model is meant to call a tool that is not there, say undeclared: true")
		}
		out := transcript.ExpectedCall{Tool: want.tool.V, Mode: want.mode}
		for _, arg := range want.args {
			out.Args = append(out.Args, b.arg(arg))
		}
		m.Calls[i] = out
	}
	return m
}

// arg reads one expected argument: a matcher, or a value.
func (b *builder) arg(e yamlwalk.Entry[yamlwalk.Tree]) transcript.ExpectedArg {
	out := transcript.ExpectedArg{Name: e.Key}
	keys := e.Value.Keys()
	if !isMatcher(keys) {
		if len(keys) == 1 {
			if near := suggest.Nearest(keys[0], matchers); near != "" {
				b.f.Failf(e.Value.At, "%q is near the matcher %q: write that, or {equals: {%s: …}} for an argument that is such an object", keys[0], near, keys[0])
			}
		}
		out.Value = e.Value.JSON
		return out
	}
	n := len(keys)
	for _, k := range keys {
		if !b.matcher(&out, k, e.Value) {
			return out
		}
		if k == "tolerance" {
			n--
		}
	}
	if n != 1 || len(keys) > 1 && out.Number == nil {
		b.f.Failf(e.Value.At, "a matcher says one of date, contains, regexp, number (with tolerance) and equals; put an object that is meant as it stands under equals")
	}
	return out
}

func isMatcher(keys []string) bool {
	for _, k := range keys {
		if !slices.Contains(matchers, k) {
			return false
		}
	}
	return len(keys) > 0
}

func (b *builder) matcher(out *transcript.ExpectedArg, key string, t yamlwalk.Tree) bool {
	member, _ := t.Member(key)
	if key == "equals" {
		out.Value = member
		return true
	}
	if key == "number" || key == "tolerance" {
		n, err := strconv.ParseFloat(string(member), 64)
		if err != nil || key == "tolerance" && n < 0 {
			b.f.Failf(t.Find("/"+key), "%s must be a number, is %s", key, member)
			return false
		}
		if key == "number" {
			out.Number = &n
		} else {
			out.Tolerance = n
		}
		return true
	}
	s, err := jsontext.AppendUnquote(nil, member)
	if err != nil {
		b.f.Failf(t.Find("/"+key), "%s must be a text, is %s", key, member)
		return false
	}
	return b.textMatcher(out, key, string(s), t)
}

func (b *builder) textMatcher(out *transcript.ExpectedArg, key, s string, t yamlwalk.Tree) bool {
	switch key {
	case "contains":
		out.Contains = &s
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			b.f.Failf(t.Find("/"+key), "date must be a day like 2026-07-14, is %q", s)
			return false
		}
		out.Date = &s
	case "regexp":
		re, err := regexp.Compile(s)
		if err != nil {
			b.f.Failf(t.Find("/"+key), "%q is no regular expression: %s", s, reason(err))
			return false
		}
		out.Regexp = re
	}
	return true
}
