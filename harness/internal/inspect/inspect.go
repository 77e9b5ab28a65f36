// Package inspect reads what a cassette says about the conversations in it:
// the calls to models, what they cost, which tools they asked for, and which
// rules of the contract they break. It is the same for a recording of ours and
// for anybody's.
package inspect

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/transcript"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/codec"
)

// Facts are what a cassette holds. The figures are the provider's own, added up
// as reported; null was never reported.
type Facts struct {
	Path        string   `json:"path"`
	ModelCalls  int      `json:"model_calls"`        // every request to a generation endpoint, failed ones included
	Failed      int      `json:"model_calls_failed"` // status of 400 and more, or an error in the answer
	ToolCalls   []string `json:"tool_calls"`         // names in the order of the wire
	ParallelMax int      `json:"parallel_max"`       // most calls in one answer
	StopReasons []string `json:"stop_reasons"`       // the provider's words; a stream that fails may have one
	Input       *int64   `json:"input_tokens"`
	Output      *int64   `json:"output_tokens"`
	CacheRead   *int64   `json:"cache_read_tokens"`
	CacheWrite  *int64   `json:"cache_write_tokens"`
	Reasoning   *int64   `json:"reasoning_tokens"`
	Models      []string `json:"models"` // of each answer, else of its request; null: never told
	Calls       []Call   `json:"calls"`
	Others      int      `json:"other_requests"` // requests that are no model calls
	Breaches    []string `json:"breaches"`
	Warnings    []string `json:"warnings"`
}

// Call is one model call.
type Call struct {
	Family     wire.API `json:"family"`
	Status     int      `json:"status"`
	Stream     bool     `json:"stream"`
	Model      *string  `json:"model"`
	Stop       []string `json:"stop"`
	Tools      []Tool   `json:"tools"`
	Input      *int64   `json:"input"`
	Output     *int64   `json:"output"`
	CacheRead  *int64   `json:"cache_read"`
	CacheWrite *int64   `json:"cache_write"`
	Reasoning  *int64   `json:"reasoning"`
	Error      *string  `json:"error"`
	Latency    int64    `json:"latency_us"`
	Problems   []string `json:"problems"`
}

// Tool is a tool call. Args is JSON with sorted members, or the text that came.
type Tool struct {
	Name string  `json:"name"`
	ID   *string `json:"id"`
	Args string  `json:"args"`
}

// Inspection is a cassette's facts, with what a person reads besides.
type Inspection struct {
	Facts      Facts
	Transcript []byte
	Findings   []contract.Finding
	Others     []Host // where the requests went that are no model calls, in the order of the file
}

// Host is a host with the number of requests to it.
type Host struct {
	Name     string
	Requests int
}

// Read inspects a cassette.
func Read(f *cassette.File) Inspection {
	var models []*journal.ModelAttempt
	var events []journal.Event
	in := Inspection{Facts: Facts{Path: f.Name, ToolCalls: []string{}, StopReasons: []string{}, Calls: []Call{}}}
	for i := range f.Interactions {
		e := attempt(&f.Interactions[i])
		if e == nil {
			in.Facts.Others++
			in.other(f.Interactions[i].Request.URL)
			continue
		}
		e.Ordinal = i + 1
		models = append(models, e)
		events = append(events, e)
		in.Facts.add(e)
	}
	in.Facts.models()
	in.Findings = contract.Check(contract.Terms{}, contract.Evidence{Models: models})
	in.Facts.Breaches = []string{}
	for _, b := range contract.Breaches(in.Findings) {
		in.Facts.Breaches = append(in.Facts.Breaches, b.String())
	}
	in.Facts.Warnings = []string{}
	for _, w := range f.Warnings {
		in.Facts.Warnings = append(in.Facts.Warnings, w.Text)
	}
	in.Transcript = transcript.Conversations(events)
	return in
}

// other counts a request that is no model call, for its host or, where the
// address has none, for the address.
func (in *Inspection) other(address string) {
	name := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		name = u.Host
	}
	i := slices.IndexFunc(in.Others, func(h Host) bool { return h.Name == name })
	if i < 0 {
		i = len(in.Others)
		in.Others = append(in.Others, Host{Name: name})
	}
	in.Others[i].Requests++
}

// attempt reads an interaction as a model call; nil when it is none.
func attempt(i *cassette.Interaction) *journal.ModelAttempt {
	q := &i.Request
	api, ok := codec.Detect(q.Method, q.URL, q.Body)
	if !ok {
		return nil
	}
	e := &journal.ModelAttempt{API: api, Method: q.Method, URL: q.URL, Status: i.Response.Code, Latency: i.Response.Duration}
	c, _ := codec.For(api)
	e.Request, e.RequestErr = c.DecodeRequest(q.URL, q.Body)
	body, err := i.Response.Plain()
	if err != nil {
		e.Err, e.Class = err, failure.Of(err)
		return e
	}
	resp, err := c.DecodeResponse(i.Response.Code, i.Response.Header.Get("Content-Type"), body)
	e.Response, e.Err, e.Class = resp, err, wire.ClassOf(resp, err)
	return e
}

func (f *Facts) add(e *journal.ModelAttempt) {
	c := callOf(e)
	f.ModelCalls++
	if c.Error != nil {
		f.Failed++
	}
	f.StopReasons = append(f.StopReasons, c.Stop...)
	for _, t := range c.Tools {
		f.ToolCalls = append(f.ToolCalls, t.Name)
	}
	f.ParallelMax = max(f.ParallelMax, len(c.Tools))
	for _, p := range []struct {
		sum **int64
		n   *int64
	}{{&f.Input, c.Input}, {&f.Output, c.Output}, {&f.CacheRead, c.CacheRead}, {&f.CacheWrite, c.CacheWrite}, {&f.Reasoning, c.Reasoning}} {
		if p.n == nil {
			continue
		}
		if *p.sum == nil {
			*p.sum = new(int64)
		}
		**p.sum += *p.n
	}
	f.Calls = append(f.Calls, c)
}

// models are the distinct ones of the calls.
func (f *Facts) models() {
	for i := range f.Calls {
		if m := f.Calls[i].Model; m != nil && !slices.Contains(f.Models, *m) {
			f.Models = append(f.Models, *m)
		}
	}
}

func callOf(e *journal.ModelAttempt) Call {
	c := Call{Family: e.API, Status: e.Status, Stop: []string{}, Tools: []Tool{}, Problems: []string{}, Latency: int64(e.Latency / time.Microsecond)}
	if e.Request != nil {
		c.Stream = e.Request.Stream
		c.Model = text(e.Request.Model)
	}
	r := e.Response
	c.Error = errorOf(e)
	if r == nil {
		return c
	}
	c.Stream = r.Streamed
	if r.Model != "" {
		c.Model = &r.Model
	}
	c.Input, c.Output, c.CacheRead, c.CacheWrite, c.Reasoning = r.Reported.Input, r.Reported.Output, r.Reported.CacheRead, r.Reported.CacheWrite, r.Reported.Reasoning
	for _, p := range r.Problems {
		c.Problems = append(c.Problems, string(p.Kind))
	}
	c.Stop = append(c.Stop, r.RawStop...)
	for _, b := range r.Calls() {
		c.Tools = append(c.Tools, Tool{Name: b.Name, ID: text(b.ID), Args: argsOf(&b)})
	}
	return c
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func argsOf(b *wire.Block) string {
	if b.Args == nil {
		return b.ArgsText
	}
	c, err := jsondoc.Canonical(nil, b.Args)
	if err != nil {
		return string(b.Args)
	}
	return string(c)
}

// errorOf names a failed call's error: the provider's type, else its code, else
// the beginning of its message, else the status.
func errorOf(e *journal.ModelAttempt) *string {
	if e.Err != nil {
		return text("unreadable answer: " + e.Err.Error())
	}
	if e.Response == nil || e.Response.Err == nil {
		return nil
	}
	err := e.Response.Err
	if strings.HasPrefix(err.Message, "<") && err.Kind == "" && err.Code == "" {
		return text("http-" + strconv.Itoa(err.Status)) // a page for people
	}
	const most = 80
	for _, s := range []string{err.Kind, err.Code, err.Message} {
		if r := []rune(s); len(r) > most {
			return text(string(r[:most]))
		}
		if s != "" {
			return &s
		}
	}
	return text("http-" + strconv.Itoa(err.Status))
}

// JSON is the facts as one line.
func (f *Facts) JSON() ([]byte, error) {
	b, err := json.Marshal(f, json.FormatNilSliceAsNull(true), jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	return jsondoc.EscapeBidi(b), err
}
