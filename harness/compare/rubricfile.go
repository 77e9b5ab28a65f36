package compare

import (
	"regexp"

	"github.com/retake-harness/retake/harness/internal/suggest"
	"github.com/retake-harness/retake/harness/internal/yamlwalk"
)

var idForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// share is a probability that is neither certain nor impossible.
var share = yamlwalk.Then(yamlwalk.Chance(), func(v yamlwalk.Value, p float64) {
	if p < 0.5 || p > 0.999 {
		v.Failf("must be between 0.5 and 0.999, is %v", p)
	}
})

// rubricFields is the table of a rubric's file.
var rubricFields = yamlwalk.Object[written]{
	Is: "a rubric",
	Fields: []yamlwalk.Field[written]{
		yamlwalk.F("confidence", "Confidence of every interval, two-sided; default 0.95.", share, func(w *written) *float64 { return &w.Confidence }),
		yamlwalk.F("power", "With which chance a difference is to be found; default 0.8.", share, func(w *written) *float64 { return &w.Power }),
		yamlwalk.F("seed", "Of what is drawn; default 1.", yamlwalk.Int[int64](1), func(w *written) *int64 { return &w.seed }),
		yamlwalk.Must("primary", "Name the question about success or a figure that was declared beforehand to decide. Holm's correction is over the others.", yamlwalk.At(yamlwalk.Text()), func(w *written) *yamlwalk.Located[string] { return &w.primary }),
		yamlwalk.Must("questions", "List the questions, in the order in which they are answered.", yamlwalk.List(yamlwalk.At(questionFields.Kind())), func(w *written) *[]yamlwalk.Located[Question] { return &w.questions }),
	},
}

var questionFields = yamlwalk.Object[Question]{
	Is: "a question",
	Fields: []yamlwalk.Field[Question]{
		yamlwalk.Must("id", "Give the question a name.", yamlwalk.Pattern("a name of small letters, digits, - and _", idForm), func(q *Question) *string { return &q.ID }),
		yamlwalk.Must("ask", "Say what is asked: a hard gate (extra_effect to fault_not_fired), missing_scenarios, excluded_runs, success, or a figure.", yamlwalk.Enum(asks...), func(q *Question) *Ask { return &q.Ask }),
		yamlwalk.Must("threshold", "Say what is still good. Of a gate and of missing_scenarios how many; of excluded_runs which share; of success the margin by which the pass rate may be lower; of a figure the highest ratio of new to old.", yamlwalk.Number(new(float64)), func(q *Question) *float64 { return &q.Threshold }),
		yamlwalk.Must("breach", "Say what a breach means: revert, inconclusive or warn.", yamlwalk.Enum(MeansRevert, MeansInconclusive, MeansWarn), func(q *Question) *Meaning { return &q.Breach }),
		yamlwalk.Must("reason", "Say why it is asked.", yamlwalk.Text(), func(q *Question) *string { return &q.Reason }),
	},
	Check: checkQuestion,
}

// checkQuestion refuses thresholds that cannot be meant.
func checkQuestion(v yamlwalk.Value, q *Question) {
	_, figure := figureOf(q.Ask)
	switch {
	case figure && q.Threshold < 1:
		v.Failf("the threshold of %s is the highest ratio of new to old, at least 1; is %v", q.Ask, q.Threshold)
	case q.Ask == AskSuccess && q.Threshold >= 1, q.Ask == AskExcluded && q.Threshold > 1:
		v.Failf("the threshold of %s is a share of less than 1, like 0.05; is %v", q.Ask, q.Threshold)
	case !figure && q.Ask != AskSuccess && q.Ask != AskExcluded && q.Threshold != float64(int(q.Threshold)):
		v.Failf("the threshold of %s is a whole number; is %v", q.Ask, q.Threshold)
	}
}

// written is the file as it is read.
type written struct {
	Rubric
	seed      int64
	primary   yamlwalk.Located[string]
	questions []yamlwalk.Located[Question]
}

var rubricKind = rubricFields.Kind()

func parseRubric(name string, text []byte) (*Rubric, error) {
	f := yamlwalk.Parse(name, text)
	w := written{Rubric: Rubric{Confidence: 0.95, Power: 0.8}, seed: 1}
	yamlwalk.Root(f, rubricKind, &w)
	if err := f.Err(); err != nil {
		return nil, err
	}
	w.check(f)
	if err := f.Err(); err != nil {
		return nil, err
	}
	r := w.Rubric
	r.File, r.Seed, r.Primary = name, uint64(w.seed), w.primary.V
	for _, q := range w.questions {
		r.Questions = append(r.Questions, q.V)
	}
	return &r, nil
}

// check holds the questions against each other.
func (w *written) check(f *yamlwalk.File) {
	byID := map[string]Ask{}
	var measured []string
	for _, q := range w.questions {
		if _, twice := byID[q.V.ID]; twice {
			f.Failf(q.At, "the id %q is given twice; give each question its own", q.V.ID)
		}
		byID[q.V.ID] = q.V.Ask
		if _, figure := figureOf(q.V.Ask); figure || q.V.Ask == AskSuccess {
			measured = append(measured, q.V.ID)
		}
	}
	if len(w.questions) == 0 {
		f.Failf(yamlwalk.Pos{}, "a rubric without questions decides nothing; ask at least about success")
		return
	}
	ask, ok := byID[w.primary.V]
	if _, figure := figureOf(ask); !ok || !figure && ask != AskSuccess {
		f.Failf(w.primary.At, "primary must be the id of a question about success or a figure, is %q%s", w.primary.V, suggest.Hint(w.primary.V, measured))
	}
}

// RubricSchema describes a rubric's file for editors.
func RubricSchema() ([]byte, error) {
	return yamlwalk.Describe("A rubric of retake compare", rubricKind)
}
