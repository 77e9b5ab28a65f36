// Package labels measures how far a model that judges agrees with people: it reads
// texts that people have labelled, has the judge say its own, and holds the two
// against each other.
package labels

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
	"github.com/retake-harness/retake/harness/scenario"
)

// File is a file of labels.
type File struct {
	Name     string // as opened, for messages
	Question string
	Answers  []string
	Model    string // that judges
	About    scenario.About
	Items    []Item
	Record   string // the command that records what the judge says, for advice; set by the caller
}

// Item is a text, or the scenario whose run has it, with the label that people gave
// it: one of the file's answers.
type Item struct {
	Line     int // in the file
	Text     string
	Scenario string
	Agent    string // the model whose run of the scenario it is; "" is the scenario's first
	Label    string
}

// text is a text with its place.
type text = yamlwalk.Located[string]

type written struct {
	question string
	answers  []text
	model    string
	about    scenario.About
	items    []item
}

type item struct {
	text, scenario, agent string
	label                 text
}

var fields = yamlwalk.Object[written]{
	Is: "a file of labels",
	Fields: []yamlwalk.Field[written]{
		yamlwalk.Must("question", "What the judge is asked about each text, as in a scenario's expect: judge.", yamlwalk.Text(), func(w *written) *string { return &w.question }),
		yamlwalk.Must("answers", "The answers that it may give.", yamlwalk.List(scenario.JudgeAnswer()), func(w *written) *[]text { return &w.answers }),
		yamlwalk.Must("model", "The model version that judges.", yamlwalk.Text(), func(w *written) *string { return &w.model }),
		yamlwalk.F("about", "What it is shown of a scenario's run: answer (the default), or transcript.", yamlwalk.Enum(scenario.AboutAnswer, scenario.AboutTranscript), func(w *written) *scenario.About { return &w.about }),
		yamlwalk.Must("items", "What people have labelled.", yamlwalk.List(itemFields.Kind()), func(w *written) *[]item { return &w.items }),
	},
}

var itemFields = yamlwalk.Object[item]{
	Is: "a labelled text",
	Fields: []yamlwalk.Field[item]{
		yamlwalk.F("text", "The text itself.", yamlwalk.WrittenSomething("there is nothing to judge"), func(i *item) *string { return &i.text }),
		yamlwalk.F("scenario", "The name of a scenario, of whose replay the text is.", yamlwalk.Text(), func(i *item) *string { return &i.scenario }),
		yamlwalk.F("agent", "The model whose run of the scenario it is; left out, the first that the scenario names.", yamlwalk.Text(), func(i *item) *string { return &i.agent }),
		yamlwalk.Must("label", "What a person answers.", yamlwalk.At(yamlwalk.Written()), func(i *item) *text { return &i.label }),
	},
	ExactlyOne: [][]string{{"text", "scenario"}},
	Check: func(v yamlwalk.Value, i *item) {
		if i.agent != "" && i.scenario == "" {
			v.Failf("agent says whose run of a scenario it is; say scenario too, or drop it")
		}
	},
}

// Load reads a file of labels. An error is like scenario.Load's.
func Load(path string) (*File, error) {
	name := filepath.ToSlash(path)
	body, err := file.Read(path)
	if err != nil {
		return nil, failure.Errorf(failure.World, "%s: %w", name, yamlwalk.Cause(err))
	}
	return parse(name, body)
}

func parse(name string, body []byte) (*File, error) {
	f := yamlwalk.Parse(name, body)
	w := written{about: scenario.AboutAnswer}
	yamlwalk.Root(f, fields.Kind(), &w)
	if err := f.Err(); err != nil {
		return nil, err
	}
	out := &File{Name: name, Question: w.question, Model: w.model, About: w.about, Answers: w.allowed(f)}
	for i := range w.items {
		out.Items = append(out.Items, w.items[i].read(f, out.Answers))
	}
	if len(w.items) == 0 {
		f.Failf(yamlwalk.Pos{Line: 1, Column: 1}, "without labelled items there is nothing to agree with")
	}
	return out, f.Err()
}

func (w *written) allowed(f *yamlwalk.File) []string {
	var out []string
	for _, a := range w.answers {
		if place(out, a.V) >= 0 {
			f.Failf(a.At, "the answer %q is listed twice (letter case does not count); drop one", a.V)
		}
		out = append(out, a.V)
	}
	if len(out) == 1 {
		f.Failf(w.answers[0].At, "with one allowed answer there is nothing to agree on; give at least two")
	}
	return out
}

func (i *item) read(f *yamlwalk.File, answers []string) Item {
	at := place(answers, strings.TrimSpace(i.label.V))
	if at < 0 {
		f.Failf(i.label.At, "the label %q is none of the answers%s", i.label.V, suggest.Hint(i.label.V, answers))
		return Item{}
	}
	return Item{Line: i.label.At.Line, Text: i.text, Scenario: i.scenario, Agent: i.agent, Label: answers[at]}
}

// place is where the answer stands in a list; -1 for nowhere.
func place(in []string, answer string) int {
	return slices.IndexFunc(in, func(s string) bool { return strings.EqualFold(s, answer) })
}

// Cassette is where what a judge said about the file's texts lies: in a folder
// beside the file, with its name.
func Cassette(path, model string) string {
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), harness.FileName(model)+".yaml")
}
