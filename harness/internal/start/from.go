package start

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// From makes a scenario with its recordings and its golden of a recording, whoever
// made it, and runs it. name "" is made of the file's path. What is there already is
// kept; a scenario of the name is an error. Where the reference loop does not ask
// what the recorded agent asked, the Result says what differs, and no golden is
// written.
func From(ctx context.Context, p Project, path, name string) (*Made, error) {
	d := p.dirs()
	c, f, err := p.recording(path)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = nameIn(d.Cassettes, path)
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	target := filepath.Join(d.Scenarios, filepath.FromSlash(name)+".yaml")
	if there, err := exists(target); there || err != nil {
		return nil, errors.Join(err, failure.Errorf(failure.ScenarioInvalid, "%s is there already; give another name: retake init --from %s NAME", target, path))
	}
	m := &Made{Name: name}
	if err := m.lay(d, c, f, target); err != nil {
		return nil, err
	}
	return m, m.run(ctx, p)
}

// recording reads the file and takes the longest of its conversations.
func (p *Project) recording(path string) (*Conversation, *foreign.File, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if f.Half != foreign.Whole {
		return nil, nil, failure.Errorf(failure.CassetteInvalid, "%s: a body alone does not tell what was asked and answered; put the request and the answer into one object, {\"request\": …, \"response\": …}", path)
	}
	conf, err := suite.OpenConfig(p.Dirs, p.getenv)
	if err != nil {
		return nil, nil, err
	}
	im, err := foreign.Import(f, foreign.Options{Redact: cassette.Redaction{Headers: conf.Redact.Headers, JSON: conf.Redact.JSON}, Secrets: conf.Hidden()})
	if err != nil {
		return nil, nil, err
	}
	if f.Format == foreign.GoVCR && f.Notes.Source != "" {
		im.File.Notes.Source = f.Notes.Source
	}
	all, err := Conversations(im.File)
	if err != nil {
		return nil, nil, err
	}
	longest := slices.MaxFunc(all, func(a, b *Conversation) int { return len(a.Requests) - len(b.Requests) })
	if n := len(all); n > 1 {
		f.Warnings = append(f.Warnings, cassette.Warning{Text: fmt.Sprintf("the file has %d conversations; this is the one that begins with interaction %d", n, longest.Interactions[0]+1)})
	}
	return longest, f, nil
}

// nameIn is the scenario that a cassette of the project belongs to, or a name made
// of the file's.
func nameIn(cassettes, path string) string {
	if rel, err := filepath.Rel(cassettes, path); err == nil && filepath.IsLocal(rel) && filepath.Dir(rel) != "." {
		return filepath.ToSlash(filepath.Dir(rel))
	}
	return NameOf(path)
}

// lay writes the files.
func (m *Made) lay(d suite.Dirs, c *Conversation, f *foreign.File, target string) error {
	for _, w := range f.Warnings {
		m.Warnings = append(m.Warnings, w.Text)
	}
	model := c.Requests[0].Model
	text, err := c.Scenario(Header{
		Why: "A recorded conversation is led again; say here what it shows.", Owner: "nobody yet", Calls: true,
	})
	if err != nil {
		return err
	}
	text = append([]byte("# Made of "+filepath.Base(f.Name)+" by retake init. A tool counts as a write until it says effect: read.\n"), text...)
	if err := m.config(d, c, model); err != nil {
		return err
	}
	if err := m.write(target, text); err != nil {
		return err
	}
	part := c.Cassette()
	part.Name = harness.ModelCassette(d.Cassettes, m.Name, model)
	if err := m.save(part.Name, part); err != nil {
		return err
	}
	tools, err := c.Tools()
	if err != nil {
		return err
	}
	if len(tools) > 0 {
		path := harness.ToolCassette(d.Cassettes, m.Name)
		notes := cassette.FileNotes{Source: part.Notes.Source, RecordedAt: part.Notes.RecordedAt}
		if err := m.save(path, &cassette.File{Name: path, Version: 2, Notes: notes, Interactions: tools}); err != nil {
			return err
		}
	}
	return m.surroundings(d)
}

// config writes retake.yaml with the model in it, or says what is missing there.
func (m *Made) config(d suite.Dirs, c *Conversation, model string) error {
	base, ok := c.BaseURL()
	if !ok {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the recorded agent asked at %s, which does not end in the path of %s; the reference loop cannot ask there", c.File.Interactions[c.Interactions[0]].Request.URL, c.API))
	}
	entry, err := json.Marshal(struct {
		API     wire.API          `json:"api"`
		BaseURL string            `json:"base_url,omitzero"`
		Key     map[string]string `json:"key"`
	}{c.API, base, map[string]string{"env": keyOf(c.API)}})
	if err != nil {
		return err
	}
	path := filepath.Join(d.Scenarios, scenario.Config)
	text := "# What lies outside the code, in one place; retake config prints what is in force.\n# A key is taken from the environment, and only for recording.\nmodels:\n" +
		string(appendField(nil, 2, model, entry)) + "\n# Who renews each secret, and by when (rotate_by: a day).\nsecrets:\n  " + keyOf(c.API) + ": {owner: nobody yet}\n"
	if err := m.write(path, []byte(text)); err != nil {
		return err
	}
	if !m.Files[len(m.Files)-1].Kept {
		return nil
	}
	conf, err := suite.OpenConfig(d, nil)
	if err != nil {
		return err
	}
	line := strings.TrimSpace(string(appendField(nil, 0, model, entry)))
	switch known, described := conf.Model(model); {
	case !described && len(conf.Models) > 0:
		m.Warnings = append(m.Warnings, fmt.Sprintf("the model is not described in %s; write there, under models: %s", path, line))
	case ok && !usual(c.API, base) && (!described || known.BaseURL != base):
		m.Warnings = append(m.Warnings, fmt.Sprintf("the recorded agent asked at %s; write into %s, under models: %s", base, path, line))
	}
	return nil
}

func keyOf(api wire.API) string {
	switch api {
	case wire.AnthropicMessages:
		return "ANTHROPIC_API_KEY"
	case wire.GeminiGenerate:
		return "GEMINI_API_KEY"
	default:
		return "OPENAI_API_KEY"
	}
}

// usual tells whether the paths below a base URL are those below the API's own. The
// host does not count in finding a recording.
func usual(api wire.API, base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	own := ""
	if api == wire.OpenAIChat || api == wire.OpenAIResponses {
		own = "/v1"
	}
	return u.Path == own && u.RawQuery == ""
}

// run runs the scenario, and accepts its transcript as the golden one where nothing
// else is wrong with it.
func (m *Made) run(ctx context.Context, p Project) error {
	s, err := suite.Open(p.Dirs, p.getenv)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Run(ctx, []string{m.Name}, suite.Options{Update: true}, func(r *harness.Result) error {
		if m.Result == nil || m.Result.Verdict == harness.Pass {
			m.Result = r // the first that is no pass
		}
		if r.Accepted {
			m.Files = append(m.Files, File{Path: harness.Golden(s.Dirs.Golden, m.Name, r.Model)})
		}
		return nil
	})
}
