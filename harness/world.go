package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/contract"
	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/schema"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/wire"
)

// defaultTime ends a run that has no limit of its own.
const defaultTime = time.Hour

// world is everything around one run.
type world struct {
	params              Params
	result              *Result
	env                 *Env
	journal             *journal.Journal
	ledger              *effect.Ledger
	tap                 *tap
	player              *cassette.Player // nil with a transport of the caller's
	modelFile, toolFile string
	tools               *cassette.ToolPlayer // nil when no tool runs from a cassette
	modelRecording      *cassette.File       // nil with a transport of the caller's
	toolRecording       *cassette.File       // with tools
	injector            *fault.Injector      // nil without faults and survey
	divert              *divert              // with an injector
	begins              []begin              // where each run of the task but the first began
	runs                []contract.Evidence  // of each run of the task; nil for one
	borrowed            bool                 // the tools' recording is that of the run without faults
	end                 *journal.Ended
	own                 map[string]bool // tools that the agent has run by itself
	person              *person
	kill                func() // ends what the agent does now
	panicked            bool
	err                 error // what ended the run, nil when the agent did
}

// build opens the cassettes and puts the layers on top of each other.
func build(p Params, r *Result) (*world, error) {
	s := *p.Scenario
	s.Limits = withDefaults(s.Limits)
	if p.Variant != nil {
		s.Expect = p.Variant.Expect
	}
	w := &world{params: p, result: r, journal: &journal.Journal{}, ledger: &effect.Ledger{}}
	if err := w.arm(); err != nil {
		return nil, err
	}
	transport := p.Transport
	if transport == nil {
		if err := w.openModel(); err != nil {
			return nil, err
		}
		transport = w.player
	}
	specs, err := w.specs()
	if err != nil {
		return nil, err
	}
	if err := w.addresses(); err != nil {
		return nil, err
	}
	w.tap = newTap(w.faulty(transport), w.journal)
	w.env = &Env{
		Scenario: &s, Model: p.Model, API: p.API, BaseURL: BaseURL(p), Retry: p.Retry.withDefaults(), Journal: w.journal,
		TaskID: r.TaskID, Scratch: p.scratch,
		HTTP:  &http.Client{Transport: w.tap},
		Tools: tool.NewBox(specs, w.boxOptions()),
	}
	w.env.Tools.ActAs(s.Turns[0].As)
	if !p.Unread {
		cassette := r.Hashes.Cassette // known since it was opened
		r.Hashes = HashesOf(&s)
		r.Hashes.Cassette = cassette
	}
	return w, nil
}

func (w *world) boxOptions() tool.Options {
	p := w.params
	return tool.Options{
		Journal: w.journal, TaskID: w.result.TaskID, Decide: w.decide(), Secrets: p.Secrets, Post: p.Post,
		AttemptID: func(n int) string { return attemptID(w.result.TaskID, n) },
		Guard: func(c tool.Call) (string, bool) {
			for _, g := range p.Scenario.Guard {
				if g.Tool == c.Tool {
					return g.Reason, true
				}
			}
			return "", false
		},
	}
}

// ModelCassette is the path of a scenario's recording of one model.
func ModelCassette(dir, name, model string) string {
	return filepath.Join(dir, filepath.FromSlash(name), FileName(model)+".yaml")
}

// ToolCassette is the path of a scenario's recording of its tools.
func ToolCassette(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(name), "tools.yaml")
}

// Golden is the path of the transcript that a scenario's run is held against.
func Golden(dir, name, model string) string {
	return filepath.Join(dir, filepath.FromSlash(name), FileName(model)+".golden")
}

// FileName spells a model's name for a file: each byte outside [A-Za-z0-9._-] is
// %XX.
func FileName(model string) string {
	var b strings.Builder
	for i := 0; i < len(model); i++ {
		c := model[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
	}
	return b.String()
}

func (w *world) openModel() error {
	p := w.params
	path := cmp.Or(p.Cassette, ModelCassette(p.CassetteDir, p.Scenario.Name, p.Model))
	if v := p.Variant; v != nil && v.OnDivergence == scenario.DivergeRecorded {
		path = UnderVariant(path, v.ID)
	}
	file, err := w.open(path)
	if isMissing(err) && p.Variant != nil && p.Variant.OnDivergence == scenario.DivergeRecorded {
		err = failure.Errorf(failure.World, "%s: %w: %w", path, errUnrecorded, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	w.result.Hashes.Cassette, w.modelFile, w.modelRecording = file.Hash, path, file
	w.addWarnings(file)
	if of := file.Notes.Model; of != "" && of != p.Model {
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("%s: x-retake says that this is a recording of the model %q, its name that it is of %q", file.Name, of, p.Model))
	}
	w.player, err = p.Recordings.player(file, cassette.Options{
		Match:   cassette.Mode(p.Scenario.Replay.Match),
		Ignore:  p.Scenario.Replay.Ignore,
		Headers: p.Scenario.Replay.Headers,
		Redact:  p.Redact,
		Wait:    w.passing(),
		Record:  p.Scenario.Name,

		BareMisses: p.Unread,
	})
	return err
}

// passing lets recorded time pass.
func (w *world) passing() func(context.Context, time.Duration) error {
	if w.params.Pace > 0 && w.result.Clock == clock.ModeReal {
		return cassette.Pace(w.params.Pace, clock.Sleep)
	}
	return clock.Pass
}

func (w *world) addWarnings(f *cassette.File) {
	for _, warn := range f.Warnings {
		w.result.Warnings = append(w.result.Warnings, f.Name+": "+warn.Text)
	}
}

// specs pairs each declared tool with what runs it.
func (w *world) specs() ([]tool.Spec, error) {
	p := w.params
	specs := make([]tool.Spec, len(p.Scenario.Tools))
	for i := range p.Scenario.Tools {
		d := &p.Scenario.Tools[i]
		exec, err := w.executor(d)
		if err != nil {
			return nil, err
		}
		specs[i] = tool.Spec{Decl: *d, Instant: p.Executors[d.Name] == nil}
		if specs[i].Input, err = compile(p.Schemas, d.Input); err != nil {
			return nil, err
		}
		if specs[i].Output, err = compile(p.Schemas, d.Output); err != nil {
			return nil, err
		}
		specs[i].Exec = w.toolExecutor(&specs[i], exec)
	}
	return specs, nil
}

func compile(c *schema.Cache, raw []byte) (*schema.Schema, error) {
	var none *schema.Schema // allows everything
	if raw == nil {
		return none, nil
	}
	return c.Compile(raw)
}

// executor is the user's own for the tool, else the tools' cassette, opened for
// the first tool that needs it.
func (w *world) executor(d *tool.Decl) (tool.Executor, error) {
	if e := w.params.Executors[d.Name]; e != nil {
		return e, nil
	}
	if w.tools != nil {
		return w.tools, nil
	}
	path := ToolCassette(w.params.CassetteDir, w.params.Scenario.Name)
	file, err := w.openTools(path)
	if isMissing(err) {
		file, err = &cassette.File{Name: path, Version: 2}, nil // a scenario may call no tool at all
	}
	if err != nil {
		return nil, err
	}
	w.toolFile, w.toolRecording = path, file
	w.addWarnings(file)
	if file.Hash != "" {
		w.result.Hashes.Cassette = hashTexts([]string{w.result.Hashes.Cassette, file.Hash})
	}
	w.tools, err = w.params.Recordings.toolPlayer(file, cassette.ToolOptions{
		LeaveOut: hostKeys(w.params.Scenario.Tools),
		Again:    w.again(),
		Redact:   w.params.Redact,
		Wait:     w.passing(),
		Record:   w.params.Scenario.Name,

		BareMisses: w.params.Unread,
	})
	return w.tools, err
}

// openTools prefers the tools' recording under the variant's faults, where the
// model has one.
func (w *world) openTools(path string) (*cassette.File, error) {
	if v := w.params.Variant; v != nil && v.OnDivergence == scenario.DivergeRecorded {
		if file, err := w.open(UnderVariant(path, v.ID)); !isMissing(err) {
			return file, err
		}
		w.borrowed = true
	}
	return w.open(path)
}

// errUnrecorded says that a run under faults wants a recording of its own.
var errUnrecorded = errors.New("there is no recording under this fault")

// UnderVariant is where the file of a run under a variant's faults lies, a
// recording or a golden: in a folder with the name of the file of the run without.
func UnderVariant(path, id string) string {
	ext := filepath.Ext(path)
	return filepath.Join(strings.TrimSuffix(path, ext), id+ext)
}

func isMissing(err error) bool {
	return err != nil && failure.Of(err) == failure.World && isNotExist(err)
}

// hostKeys are the arguments that the host fills in, which no recording is
// matched by.
func hostKeys(decls []tool.Decl) map[string][]string {
	out := map[string][]string{}
	for i := range decls {
		if k := decls[i].Key; k != nil && k.From == tool.KeyFromHost {
			out[decls[i].Name] = append(out[decls[i].Name], k.Field)
		}
	}
	return out
}

// BaseURL is where the model is asked: the one of p, else the provider's own.
func BaseURL(p Params) string {
	if p.BaseURL != "" {
		return strings.TrimSuffix(p.BaseURL, "/")
	}
	switch p.API {
	case wire.AnthropicMessages:
		return "https://api.anthropic.com"
	case wire.GeminiGenerate:
		return "https://generativelanguage.googleapis.com"
	default:
		return "https://api.openai.com/v1"
	}
}

// taskID names the operation: one id for a scenario, model, variant and run, that
// tells nothing of its content.
func taskID(p *Params) string {
	text := p.RunID + "\x00" + p.Scenario.Name + "\x00" + p.Model
	if p.Variant != nil {
		text += "\x00" + p.Variant.ID
	}
	if p.Trial > 0 {
		text += "\x00trial " + strconv.Itoa(p.Trial)
	}
	sum := sha256.Sum256([]byte(text))
	return "t" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}
