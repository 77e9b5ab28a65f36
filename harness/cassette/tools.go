package cassette

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// toolHost is where tool calls are filed in a tools' cassette. The domain
// invalid is reserved (RFC 6761): a program that replays such a file by mistake
// reaches nobody.
const toolHost = "tools.retake.invalid"

// ToolOptions say how a ToolPlayer matches. The zero value matches every
// argument and answers each recording once.
type ToolOptions struct {
	// LeaveOut names, for each tool, the arguments that do not count: those that
	// the host fills in, such as an idempotency key.
	LeaveOut map[string][]string
	// Ignore are JSON pointers into the arguments of every tool.
	Ignore []string
	// Again tells whether a tool's last recording may be given again when all are
	// used: for reads whose number does not matter, and under injected faults,
	// where the ledger of effects tells what a second delivery did. nil allows it
	// to none.
	Again func(tool string) bool

	BareMisses bool      // as in Options
	Redact     Redaction // as in Options

	Record  string // as in Options
	Wait    func(ctx context.Context, d time.Duration) error
	Observe func(Played)
}

// ToolPlayer is a tool.Executor that answers from a tools' cassette. Calls
// match by tool and canonical arguments, first recorded first given. A call
// without a free recording is an error of class cassette_miss, so a write that
// was not recorded never seems to have happened.
type ToolPlayer struct {
	file  *File
	opts  ToolOptions
	rules *rules
	index *index
	all   *matcher            // the rules for every tool
	own   map[string]*matcher // of the tools that leave arguments out

	mu      sync.Mutex
	ordinal int
	misses  []*Miss
}

// NewToolPlayer prepares the replay of the tools' cassette f. A wrong option is
// of class scenario_invalid, an interaction that is no tool call of class
// cassette_invalid.
func NewToolPlayer(f *File, opts ToolOptions) (*ToolPlayer, error) {
	if opts.Record == "" {
		opts.Record = scenarioName(f.Name)
	}
	rules, err := opts.Redact.rules()
	if err != nil {
		return nil, err
	}
	p := &ToolPlayer{file: f, opts: opts, rules: rules, own: map[string]*matcher{}}
	if err := p.matchers(); err != nil {
		return nil, err
	}
	questions := make([]question, len(f.Interactions))
	for i := range f.Interactions {
		in := &f.Interactions[i]
		name, ok := toolOf(&in.Request)
		if !ok {
			return nil, invalid(f.Name, in.Line, 1, "interaction %d is no tool call: its url must be https://%s/NAME, not %q", i+1, toolHost, in.Request.URL)
		}
		questions[i] = question{toolPlace(name), rules.document(in.Request.Body)}
	}
	p.index = newIndex(questions, func(q question) digest { return p.matcher(toolName(q)).key(q) })
	return p, nil
}

func (p *ToolPlayer) matchers() error {
	var err error
	if p.all, err = newMatcher(Strict, p.opts.Ignore, nil, nil); err != nil {
		return err
	}
	for name, arguments := range p.opts.LeaveOut {
		ignore := append([]string(nil), p.opts.Ignore...)
		for _, a := range arguments {
			ignore = append(ignore, "/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(a))
		}
		if p.own[name], err = newMatcher(Strict, ignore, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *ToolPlayer) matcher(name string) *matcher {
	if m := p.own[name]; m != nil {
		return m
	}
	return p.all
}

// Execute answers a call from the cassette.
func (p *ToolPlayer) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	q := p.question(&c)
	p.mu.Lock()
	p.ordinal++
	ordinal := p.ordinal
	p.mu.Unlock()
	recording, known := p.index.take(q)
	if recording < 0 && len(known) > 0 && p.opts.Again != nil && p.opts.Again(c.Tool) {
		recording = int(known[len(known)-1])
	}
	if recording < 0 {
		return tool.Result{}, p.miss(c.Tool, q, ordinal, known)
	}
	in := &p.file.Interactions[recording]
	if p.opts.Observe != nil {
		p.opts.Observe(Played{Ordinal: ordinal, Recording: recording + 1, Duration: in.Response.Duration})
	}
	if p.opts.Wait != nil {
		if err := p.opts.Wait(ctx, in.Response.Duration); err != nil {
			return tool.Result{}, err
		}
	}
	return toolResult(p.file, in)
}

func (p *ToolPlayer) miss(name string, q question, ordinal int, known []int32) error {
	m := explain(p.file, p.matcher(name), p.index, q, ordinal, known, p.opts.BareMisses)
	m.Noun, m.Record = "call of "+strconv.Quote(name)+", tool call", p.opts.Record
	if m.Cause != CausePath && m.Cause != "" {
		m.Cause = CauseArguments
		m.Volatile = nil
		for _, d := range m.Differences {
			if volatileAt(m.Cause, d) {
				m.Volatile = append(m.Volatile, rule(d.Pointer))
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.misses = append(p.misses, m)
	return failure.Wrap(failure.CassetteMiss, m)
}

// Fresh is a player of the same recordings, none of them used, that shares with p
// what it has found out about them.
func (p *ToolPlayer) Fresh() *ToolPlayer {
	return &ToolPlayer{file: p.file, opts: p.opts, rules: p.rules, index: p.index.fresh(), all: p.all, own: p.own}
}

// Recorded is how many calls of the tool there are in the recording; of all
// tools with "".
func (p *ToolPlayer) Recorded(tool string) int {
	n := 0
	for _, q := range p.index.questions {
		if tool == "" || toolName(q) == tool {
			n++
		}
	}
	return n
}

// Tools are the names of the tools that there are calls of, in order.
func (p *ToolPlayer) Tools() []string {
	var out []string
	for _, q := range p.index.questions {
		out = append(out, toolName(q))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Rewind begins the replay anew: every recording is free again. Misses stay.
func (p *ToolPlayer) Rewind() { p.index.rewind() }

// Misses are the calls that found no recording so far.
func (p *ToolPlayer) Misses() []*Miss {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Miss(nil), p.misses...)
}

// Unplayed are the recordings that no call has asked for so far.
func (p *ToolPlayer) Unplayed() []Unplayed {
	out := unplayed(p.file, p.index)
	for i := range out {
		q := p.index.questions[out[i].Recording-1]
		out[i].What = "call of " + toolName(q) + " " + cut(string(q.body))
	}
	return out
}

func toolPlace(name string) string { return http.MethodPost + " /" + url.PathEscape(name) }

func toolName(q question) string {
	_, target, _ := parts(q.place)
	name, err := url.PathUnescape(strings.TrimPrefix(target, "/"))
	if err != nil {
		return strings.TrimPrefix(target, "/")
	}
	return name
}

func toolOf(q *Request) (name string, ok bool) {
	u, err := url.Parse(q.URL)
	if err != nil || u.Host != toolHost || q.Method != http.MethodPost || len(u.Path) < 2 {
		return "", false
	}
	return u.Path[1:], true
}

// toolFailure is how a tool's error is recorded: what the model saw of it, and
// the class beside it.
type toolFailure struct {
	OK    bool `json:"ok"`
	Error struct {
		Code      string        `json:"code"`
		Message   string        `json:"message"`
		Retryable bool          `json:"retryable"`
		Class     failure.Class `json:"class,omitzero"`
	} `json:"error"`
}

// toolResult reads a recorded result: the content as the tool gave it, or its
// error.
func toolResult(f *File, in *Interaction) (tool.Result, error) {
	a := &in.Response
	if a.Code < http.StatusBadRequest {
		return tool.Result{Content: string(a.Body)}, nil
	}
	var t toolFailure
	if err := json.Unmarshal(a.Body, &t); err != nil || t.Error.Code == "" {
		return tool.Result{}, invalid(f.Name, in.Line, 1, "the recorded tool error of status %d has another form than {\"ok\":false,\"error\":{\"code\":…,\"message\":…,\"retryable\":…}}", a.Code)
	}
	class := t.Error.Class
	if class == failure.None {
		class = classOfStatus(a.Code)
	}
	return tool.Result{Err: &tool.Error{Code: t.Error.Code, Message: t.Error.Message, Retryable: t.Error.Retryable, Class: class}}, nil
}

func classOfStatus(code int) failure.Class {
	switch code {
	case http.StatusUnprocessableEntity:
		return failure.ToolFailed
	case http.StatusBadRequest:
		return failure.ToolInvalidArguments
	case http.StatusForbidden:
		return failure.ToolBlocked
	case http.StatusGatewayTimeout:
		return failure.ToolTimeout
	case http.StatusBadGateway:
		return failure.ToolBadOutput
	}
	return failure.ToolUnavailable
}

func statusOfClass(c failure.Class) int {
	switch c {
	case failure.ToolInvalidArguments:
		return http.StatusBadRequest
	case failure.ToolBlocked, failure.ToolNotApproved:
		return http.StatusForbidden
	case failure.ToolTimeout:
		return http.StatusGatewayTimeout
	case failure.ToolBadOutput:
		return http.StatusBadGateway
	case failure.ToolUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusUnprocessableEntity
	}
}

// ToolInteraction files a call and its result for a tools' cassette. The
// result's Detail, which is not for the model, is not written.
func ToolInteraction(c tool.Call, r tool.Result, d time.Duration) (Interaction, error) {
	arguments, err := jsondoc.Canonical(nil, c.Args)
	if err != nil {
		return Interaction{}, failure.Errorf(failure.Internal, "recording a call of %q: its arguments are no JSON: %w", c.Tool, err)
	}
	status, contentType, content := http.StatusOK, "text/plain; charset=utf-8", []byte(r.Content)
	if jsontext.Value(content).IsValid() {
		contentType = "application/json"
	}
	if r.Err != nil {
		status, contentType = statusOfClass(r.Err.Class), "application/json"
		if content, err = encodeToolFailure(r.Err, status); err != nil {
			return Interaction{}, failure.Errorf(failure.Internal, "recording a call of %q: its error cannot be written: %w", c.Tool, err)
		}
	}
	return Interaction{
		Request: Request{
			Method: http.MethodPost, URL: "https://" + toolHost + "/" + url.PathEscape(c.Tool), Host: toolHost,
			Header: Header{{"Content-Type", "application/json"}}, Body: arguments,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(arguments)),
		},
		Response: Response{
			Code: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Duration: d,
			Header: Header{{"Content-Type", contentType}}, Body: content,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(content)),
		},
	}, nil
}

// encodeToolFailure writes the class only where the status does not tell it.
func encodeToolFailure(e *tool.Error, status int) ([]byte, error) {
	var t toolFailure
	t.Error.Code, t.Error.Message, t.Error.Retryable = e.Code, e.Message, e.Retryable
	if e.Class != failure.None && classOfStatus(status) != e.Class {
		t.Error.Class = e.Class
	}
	return json.Marshal(t)
}
