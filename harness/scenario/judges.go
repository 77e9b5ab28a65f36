package scenario

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

// Judge is a question about the run that a model answers.
type Judge struct {
	Question string
	Answers  []string // that are allowed; at least two
	Accept   []string // those of them with which the expectation holds; at least one, not all
	Model    string
	About    About
}

// About is what a judge is shown.
type About string

// What there is to show.
const (
	AboutAnswer     About = "answer"     // default: the final text
	AboutTranscript About = "transcript" // all that was said and done
)

// JudgeModels are the models that the runs of the scenario ask, without and under
// faults, each once.
func (s *Scenario) JudgeModels() []string {
	var out []string
	add := func(judges []Judge) {
		for i := range judges {
			if !slices.Contains(out, judges[i].Model) {
				out = append(out, judges[i].Model)
			}
		}
	}
	add(s.Expect.Judges)
	for i := range s.Variants {
		add(s.Variants[i].Expect.Judges)
	}
	return out
}

// judge is an entry of judge as it is written.
type judge struct {
	question        string
	answers, accept []text
	model           text
	about           About
	at              yamlwalk.Pos
}

// answerForm is one line that can be told from another.
var answerForm = regexp.MustCompile(`^[^\s](.{0,98}[^\s])?$`)

// JudgeAnswer is the kind of an answer that a judge may give.
func JudgeAnswer() yamlwalk.Kind[yamlwalk.Located[string]] { return judgeAnswer }

var judgeAnswer = yamlwalk.At(yamlwalk.Then(yamlwalk.Written(), func(v yamlwalk.Value, s string) {
	if !answerForm.MatchString(s) {
		v.Failf("must be an answer of one line, without spaces around it, of at most 100 bytes")
	}
}))

var judgeFields = yamlwalk.Object[judge]{
	Is: "a question to a judge",
	Fields: []yamlwalk.Field[judge]{
		yamlwalk.Must("question", "What the model is asked about the run, so that one of the answers fits.", yamlwalk.Text(), func(j *judge) *string { return &j.question }),
		yamlwalk.Must("answers", "The answers that it may give, as in [yes, no]. Anything else leaves the run undecided.", yamlwalk.List(judgeAnswer), func(j *judge) *[]text { return &j.answers }),
		yamlwalk.Must("accept", "The answer with which the expectation holds, or a list of such.", yamlwalk.OneOrMore(judgeAnswer), func(j *judge) *[]text { return &j.accept }),
		yamlwalk.Must("model", "The model version that judges; the configuration says where it is asked.", yamlwalk.At(yamlwalk.Text()), func(j *judge) *text { return &j.model }),
		yamlwalk.F("about", "What it is shown: answer (the final text, the default), or transcript.", yamlwalk.Enum(AboutAnswer, AboutTranscript), func(j *judge) *About { return &j.about }),
	},
	Check: func(v yamlwalk.Value, j *judge) {
		j.at = v.Pos()
		j.check(v.File())
	},
}

// check wants answers that can be told apart, and a question that can fail.
func (j *judge) check(f *yamlwalk.File) {
	if len(j.answers) == 1 {
		f.Failf(j.answers[0].At, "with one allowed answer there is nothing to find out; give at least two")
	}
	for i, a := range j.answers {
		if place(j.answers[:i], a.V) >= 0 {
			f.Failf(a.At, "the answer %q is listed twice (letter case does not count); drop one", a.V)
		}
	}
	for i, a := range j.accept {
		switch at := place(j.answers, a.V); {
		case at < 0:
			f.Failf(a.At, "%q is none of the answers%s; list it there too", a.V, suggest.Hint(a.V, texts(j.answers)))
		case place(j.accept[:i], a.V) >= 0:
			f.Failf(a.At, "the answer %q is listed twice (letter case does not count); drop one", a.V)
		default:
			j.accept[i].V = j.answers[at].V
		}
	}
	if len(j.answers) > 1 && len(j.accept) >= len(j.answers) {
		f.Failf(j.accept[0].At, "every answer is accepted, so nothing is checked; drop one here")
	}
}

// place is where the answer stands in a list; -1 for nowhere.
func place(in []text, answer string) int {
	return slices.IndexFunc(in, func(t text) bool { return strings.EqualFold(t.V, answer) })
}

func texts(in []text) []string {
	out := make([]string, len(in))
	for i, t := range in {
		out[i] = t.V
	}
	return out
}

func (b *builder) judges(written []judge) []Judge {
	var out []Judge
	for i := range written {
		w := &written[i]
		if b.known != nil && w.model.V != "" && !slices.Contains(b.known, w.model.V) {
			b.f.Failf(w.model.At, "unknown model %q%s; describe it under models in retake.yaml", w.model.V, suggest.Hint(w.model.V, b.known))
		}
		j := Judge{Question: w.question, Answers: texts(w.answers), Accept: texts(w.accept), Model: w.model.V, About: w.about}
		if j.About == "" {
			j.About = AboutAnswer
		}
		same := func(o Judge) bool {
			return o.Question == j.Question && o.Model == j.Model && o.About == j.About && slices.Equal(o.Answers, j.Answers)
		}
		if slices.ContainsFunc(out, same) {
			b.f.Failf(w.at, "asks the same as another one; drop one, and list the answers that are accepted in the other")
		}
		out = append(out, j)
	}
	return out
}
