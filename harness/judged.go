package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/judge"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/wire"
)

// Judge is where a model is asked about runs.
type Judge struct {
	API     wire.API
	BaseURL string // "" is the provider's own address
	Price   *Price // nil: cost is not known
	// Transport answers instead of the cassette: a script, a recorder. nil replays
	// the cassette; while the run itself is recorded such a judge is not asked, for
	// what it has to be shown is what a replay shows.
	Transport http.RoundTripper
}

// JudgeCassette is the path of what judges said about the runs of a scenario with
// one model. What they said of a run under faults lies where UnderVariant says,
// unless it is the same.
func JudgeCassette(dir, name, model string) string {
	return filepath.Join(dir, filepath.FromSlash(name), "judge", FileName(model)+".yaml")
}

// judges answer the questions about one run.
type judges struct {
	player *cassette.Player // nil where none is needed
	file   string
	// borrowed says that it is the recording of the run without faults: nobody
	// knows which of its answers this run needs.
	borrowed bool
}

// expectJudged asks the judges, once all else about the end of the run is checked.
func (w *world) expectJudged(ctx context.Context) {
	of := w.env.Scenario.Expect.Judges
	if len(of) == 0 || w.params.Recording && !w.ownTransports() {
		return
	}
	for i := range of {
		if w.params.Judges[of[i].Model].API == "" {
			w.unanswered(failure.Errorf(failure.ScenarioInvalid, "the judge %q: its API is not known; describe it in retake.yaml under models, as in {%s: {api: anthropic-messages}}", of[i].Model, of[i].Model), fmt.Sprintf("judge[%d]", i))
			return
		}
	}
	j, err := w.openJudges()
	if err != nil {
		w.unanswered(err, "")
		return
	}
	missed := false
	for i := range of {
		missed = w.asked(ctx, j, &of[i], fmt.Sprintf("judge[%d]", i)) == failure.CassetteMiss || missed
	}
	if j.player != nil && !j.borrowed && !missed {
		w.unplayedJudges(j)
	}
}

// ownTransports tells whether the caller brings what all the judges say.
func (w *world) ownTransports() bool {
	return !slices.ContainsFunc(w.env.Scenario.Expect.Judges, func(j scenario.Judge) bool { return w.params.Judges[j.Model].Transport == nil })
}

// openJudges opens what the judges have said.
func (w *world) openJudges() (*judges, error) {
	if w.ownTransports() {
		return &judges{}, nil
	}
	j := &judges{file: JudgeCassette(w.params.CassetteDir, w.params.Scenario.Name, w.params.Model)}
	var file *cassette.File
	var err error
	if v := w.params.Variant; v != nil {
		own := UnderVariant(j.file, v.ID)
		if file, err = w.open(own); err == nil {
			j.file = own
		}
		j.borrowed = isMissing(err)
	}
	if w.params.Variant == nil || j.borrowed {
		file, err = w.open(j.file)
	}
	if isMissing(err) {
		err = noRecordingError{failure.Errorf(failure.World, "%s: nothing is recorded of what judges say about this run: %w", j.file, fs.ErrNotExist)}
	}
	if err != nil {
		return nil, err
	}
	w.addWarnings(file)
	w.result.Hashes.Cassette = hashTexts([]string{w.result.Hashes.Cassette, file.Hash})
	j.player, err = w.params.Recordings.player(file, cassette.Options{Redact: w.params.Redact, Record: w.params.Scenario.Name, BareMisses: w.params.Unread})
	return j, err
}

// asked asks one judge, files what it said, and gives the class of what went
// wrong.
func (w *world) asked(ctx context.Context, j *judges, e *scenario.Judge, part string) failure.Class {
	at := w.params.Judges[e.Model]
	m := judge.Model{Name: e.Model, API: at.API, BaseURL: BaseURL(Params{API: at.API, BaseURL: at.BaseURL})}
	by := at.Transport
	if j.player != nil {
		by = j.player
	}
	a, err := judge.Ask(ctx, by, m, judge.Question{Text: e.Question, Answers: e.Answers}, w.shown(e.About))
	if err != nil && harnessOwn(failure.Of(err)) {
		w.unanswered(err, part)
		return failure.Of(err)
	}
	said := Judged{
		Question: e.Question, Model: e.Model, About: e.About, Answer: a.Choice, Accepted: slices.Contains(e.Accept, a.Choice),
		Tokens: a.Usage, Cost: at.Price.Cost(a.Usage),
	}
	w.result.Judged = append(w.result.Judged, said)
	if a.Cut > 0 {
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("%s: the judge %s was not shown all of the %s: %d bytes of its middle are left out", w.placeOf(part), e.Model, e.About, a.Cut))
	}
	switch {
	case err != nil:
		w.unjudged(e, "gave no answer: "+err.Error(), part)
		return failure.Unjudged
	case a.Choice == "":
		w.unjudged(e, fmt.Sprintf("gave no allowed answer: it said %s, and may say %s", quote(a.Said), strings.Join(e.Answers, ", ")), part)
		return failure.Unjudged
	case !said.Accepted:
		w.expected(fmt.Sprintf("the judge %s answers %q to %q about the %s, expected %s", e.Model, a.Choice, e.Question, e.About, strings.Join(e.Accept, " or ")), part)
		return failure.Expectation
	}
	return failure.None
}

// shown is what a judge is shown, without secrets: it is sent to whoever runs the
// judge.
func (w *world) shown(about scenario.About) string {
	return w.params.Secrets.Text(Shown(w.result, about))
}

// Shown is what a judge is shown of a run. Of the transcript that is not the head:
// whose model it was must not count.
func Shown(r *Result, about scenario.About) string {
	if about != scenario.AboutTranscript {
		return r.Outcome.Answer
	}
	text := string(r.Transcript)
	for range headLines {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// headLines are the lines of a transcript's head: scenario and model.
const headLines = 2

// judgesTranscript tells whether a judge is shown the transcript.
func (w *world) judgesTranscript() bool {
	return !w.params.ContractOnly && slices.ContainsFunc(w.env.Scenario.Expect.Judges, func(j scenario.Judge) bool { return j.About == scenario.AboutTranscript })
}

// harnessOwn tells errors that are no word of the judge's.
func harnessOwn(c failure.Class) bool {
	switch c {
	case failure.CassetteMiss, failure.CassetteInvalid, failure.ScenarioInvalid, failure.World, failure.Interrupted, failure.Internal, failure.Budget:
		return true
	default:
		return false
	}
}

// unjudged notes that nobody knows whether the expectation holds.
func (w *world) unjudged(e *scenario.Judge, what, part string) {
	w.fail(Failure{
		Class: failure.Unjudged, Part: failure.PartScenario, What: "the judge " + e.Model + " " + what,
		Why:  "an answer that is not one of those allowed decides nothing, either way",
		Next: "ask so that one of the answers always fits, or ask another model; then: " + w.askAgain(),
	}, "expect."+part)
}

// unanswered files an error that kept a judge from being asked.
func (w *world) unanswered(err error, part string) {
	var miss *cassette.Miss
	if errors.As(err, &miss) {
		miss.Noun, miss.Command = "question to a judge", w.askAgain()
	}
	f := failureOf(w.result, err)
	switch {
	case miss != nil:
		f.Part, f.What = w.speaker(), err.Error()
		f.Why = "what was said of another answer does not hold for this one"
		f.Next = "if the change is meant, ask the judge again: " + w.askAgain()
	case isUnrecorded(err):
		f.Next = "record what the judges say with: " + w.askAgain()
	case f.Class == failure.ScenarioInvalid:
		f.Where = w.placeOf(part).String()
		f.Line = w.placeOf(part).Line
	}
	w.fail(f, "expect."+part)
}

func (w *world) placeOf(part string) scenario.Place {
	return w.env.Scenario.PlaceUnder(w.params.Variant, "expect."+part)
}

// askAgain is the command that asks the judges anew.
func (w *world) askAgain() string {
	return fmt.Sprintf("retake record %s --model %s --judges", w.result.Name, w.result.Model)
}

// unplayedJudges fails the run for what judges have said that nobody asks any more.
func (w *world) unplayedJudges(j *judges) {
	left := j.player.Unplayed()
	if len(left) == 0 {
		return
	}
	w.fail(Failure{
		Class: failure.CassetteUnplayed, Part: failure.PartScenario, Where: j.file, Line: left[0].Line,
		What: plural(len(left), "recorded answer of a judge was", "recorded answers of judges were") + " not asked for",
		Why:  "a recording that nobody asks for shows nothing any more",
		Next: "record what is asked now: " + w.askAgain(),
	}, "")
}
