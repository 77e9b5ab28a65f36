// Package wiretest is the conformance suite of the codecs: what holds for one
// API's codec holds for all, so that everything above wire may be written once.
//
// A codec's test gives Run the few things that the suite cannot know: which
// neutral requests the API can say at all (Shape), and literal bodies of the
// provider with their meaning (Request, Answer). The suite insists that the
// answers cover every defect it knows of.
package wiretest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/wire"
)

// Fixtures are what the suite cannot know about an API.
type Fixtures struct {
	Shape Shape

	// Requests are literal requests: each is decoded, encoded and decoded again.
	Requests []Request
	// Same are groups of requests that mean the same.
	Same [][]Request
	// Different are groups of requests no two of which mean the same.
	Different [][]Request

	// Answers are literal answers and their meaning.
	Answers []Answer
}

// Shape says which neutral requests, in the form that DecodeRequest gives them,
// the API can express. The suite's generators keep to it.
type Shape struct {
	System       bool        // Request.System has a place apart from the messages
	Roles        []wire.Role // roles of text messages besides user and assistant
	CallIDs      bool        // calls and results carry ids
	ResultNames  bool        // results carry the tool's name
	ResultErrors bool        // results can say that they are errors
	ResultBlocks bool        // a result can have several text blocks
	Mixed        bool        // text may follow the results in one message
	TextBlocks   bool        // a message can have several text blocks
	NoParallel   bool        // the tool choice can forbid parallel calls, in the modes auto, any and tool
	OneSystem    bool        // Request.System has at most one block

	// Params are further top-level fields the API knows, drawn at random.
	Params []wire.Field
	// Blocks are assistant blocks of the API's own (reasoning, opaque), as they
	// come out of DecodeRequest; they are put in front of an assistant's others.
	Blocks []wire.Block
	// Adjust, when set, brings a generated request into the API's normal form.
	Adjust func(r *wire.Request)
}

// Request is a literal request.
type Request struct {
	Why  string
	Path string // "" is codec.Path("test-model", false)
	Body string
}

// Answer is a literal answer.
type Answer struct {
	Why         string
	Status      int // 0 is 200
	ContentType string
	Body        string
	Want        Want
	// Keep are texts (signatures, ids of reasoning items) that the next request
	// must contain unchanged when the answer's message is sent back.
	Keep []string
}

// Want is the meaning of an answer. Every field is compared.
type Want struct {
	ID, Model  string
	Text       string // of all text and refusal blocks, joined
	Reasoning  string // of all reasoning blocks, joined
	Calls      []Call
	Stop       wire.Stop
	RawStop    []string
	Usage      string // as Tokens words it
	Reported   string // as Tokens words it
	Err        *wire.APIError
	Problems   []wire.ProblemKind
	Incomplete bool // the answer's own end was not seen
}

// Call is a tool call of an answer.
type Call struct {
	ID, Name string
	Args     string // as JSON, compared in canonical form; "" for none
	ArgsText string
}

// Run runs the suite.
func Run(t *testing.T, c wire.Codec, f Fixtures) {
	t.Helper()
	t.Run("request round trip", func(t *testing.T) { rapid.Check(t, requestLaws(c, f.Shape)) })
	t.Run("answer round trip", func(t *testing.T) { rapid.Check(t, answerLaws(c, f.Shape)) })
	t.Run("requests", func(t *testing.T) { literalRequests(t, c, f) })
	t.Run("meaning", func(t *testing.T) { meanings(t, c, f) })
	t.Run("answers", func(t *testing.T) { literalAnswers(t, c, f) })
	t.Run("errors in streams", func(t *testing.T) { errorsInStreams(t, c) })
	t.Run("unreadable answers", func(t *testing.T) { unreadable(t, c) })
	t.Run("coverage", func(t *testing.T) { coverage(t, f) })
}
