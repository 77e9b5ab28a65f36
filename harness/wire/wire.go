// Package wire is the neutral form of a conversation with a model, and the
// Codec that translates one provider's bytes into it and back.
//
// What the neutral form cannot say is never dropped: a field that no neutral
// field holds travels in Extra, a block that is the provider's own affair (a
// reasoning block with its signature, an image) travels in Raw. The words are
// those of the field: tool call, tool result, stop reason, usage.
//
// The packages below wire implement one API each; wire/codec finds the right
// one for a request.
package wire

import (
	"github.com/go-json-experiment/json/jsontext"
)

// API names one wire protocol. The values are stored in reports.
type API string

// The four protocols that retake speaks.
const (
	AnthropicMessages API = "anthropic-messages"
	OpenAIChat        API = "openai-chat"
	OpenAIResponses   API = "openai-responses"
	GeminiGenerate    API = "gemini"
)

// Codec translates between one API's bytes and the neutral form. A Codec has
// no state and may be used by many goroutines.
type Codec interface {
	API() API

	// Path is the request's path below the base URL; Gemini puts the model and
	// the streaming mode there, the others ignore the arguments.
	Path(model string, stream bool) string

	// EncodeRequest appends the request's JSON body to dst.
	EncodeRequest(dst []byte, r *Request) ([]byte, error)

	// DecodeRequest reads a request body. path is the URL's path with its
	// query, for what an API says there. The Request does not alias body's
	// memory only where it has to: the caller must not change body afterwards.
	DecodeRequest(path string, body []byte) (*Request, error)

	// DecodeResponse reads a whole response body, JSON or a stream, complete or
	// cut; contentType may be empty. An answer that cannot be read as this API's
	// at all is an error of class protocol; everything short of that is told
	// in the Response (Err, Complete, Problems).
	DecodeResponse(status int, contentType string, body []byte) (*Response, error)

	// EncodeResponse appends the response as the provider would send it: JSON,
	// or the events of a stream. RawStop and RawUsage are written as they are,
	// else made from Stop and Usage. A stream with the problem
	// ProblemNoTerminal is written without its end, one with an Err ends in it.
	EncodeResponse(dst []byte, r *Response, stream bool) ([]byte, error)

	// Canonical drops from a decoded request what the API's documentation says
	// is the default anyway, so that a client that spells defaults out and one
	// that does not mean the same. It changes r.
	Canonical(r *Request)
}

// Request is one model request.
type Request struct {
	Model      string
	System     []Block // a top-level system text (Anthropic, Gemini, Responses "instructions"); nil when there is none
	Messages   []Message
	Tools      []Tool
	ToolChoice ToolChoice
	MaxTokens  int // 0: not sent
	Stream     bool

	// Continues says that the request builds on a conversation that the provider
	// keeps (previous_response_id, thread): its messages are not the whole history. The
	// field that says so is in Params.
	Continues bool

	// Params are all other top-level fields as they are on the wire, in the
	// order of their names.
	Params []Field
}

// Field is one JSON object member, its value as written.
type Field struct {
	Name  string
	Value jsontext.Value
}

// Role says who speaks.
type Role string

// The roles. Tool results travel in a message of RoleUser in every API's
// neutral form: consecutive results of one turn are one message.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of the conversation.
type Message struct {
	Role   Role
	Blocks []Block
	Extra  jsontext.Value // members that no field holds, as a JSON object; nil for none
}

// Kind says what a Block is.
type Kind string

// The kinds of blocks.
const (
	KindText       Kind = "text"
	KindToolCall   Kind = "tool_call"
	KindToolResult Kind = "tool_result"
	KindReasoning  Kind = "reasoning" // with signatures and ids in Raw, to be sent back unchanged
	KindRefusal    Kind = "refusal"   // a text in which the model declines
	KindOpaque     Kind = "opaque"    // anything else: an image, a provider-run tool; in Raw
)

// Block is one part of a message.
type Block struct {
	Kind Kind

	// Text is the text of text, refusal and reasoning blocks.
	Text string

	// ID is a tool call's id, or the id that a tool result answers. Empty where
	// the API gives none (Gemini).
	ID string
	// Name is the tool's name; on a tool result only where the wire has it.
	Name string
	// Args are a tool call's arguments as valid JSON, spelled as received; nil
	// when they are not valid JSON: then ArgsText has what came. {} is never
	// put in their place.
	Args     jsontext.Value
	ArgsText string

	// Result is the content of a tool result.
	Result  []Block
	IsError bool

	// Extra has the members that no field holds, as a JSON object; nil for none.
	Extra jsontext.Value
	// Raw is the provider's own form of the block. When set it is encoded as it
	// is and the other fields only tell what it means: whoever changes one of
	// them sets Raw to nil. Reasoning and opaque blocks always have it.
	Raw jsontext.Value
}

// Tool is a declared tool.
type Tool struct {
	Name        string
	Description string
	Schema      jsontext.Value // input schema; nil for none
	Extra       jsontext.Value // strict, cache_control, …; nil for none
	// Raw is set for what is no client tool (a provider-run one) and is then
	// encoded as it is.
	Raw jsontext.Value
}

// ChoiceMode is how freely the model may choose.
type ChoiceMode string

// The modes of tool choice. ChoiceUnset sends nothing.
const (
	ChoiceUnset ChoiceMode = ""
	ChoiceAuto  ChoiceMode = "auto"
	ChoiceAny   ChoiceMode = "any"
	ChoiceTool  ChoiceMode = "tool"
	ChoiceNone  ChoiceMode = "none"
)

// ToolChoice is the request's constraint on calls.
type ToolChoice struct {
	Mode       ChoiceMode
	Name       string // the tool, for ChoiceTool
	NoParallel bool   // at most one call (auto), exactly one (any, tool)
	Extra      jsontext.Value
}

// Stop is why a turn ended, in neutral words.
type Stop string

// The stops. StopNone means that no stop reason arrived.
const (
	StopNone      Stop = ""
	StopDone      Stop = "done"
	StopToolCalls Stop = "tool_calls"
	StopTruncated Stop = "truncated"
	StopPaused    Stop = "paused"
	StopRefused   Stop = "refused"
	StopMalformed Stop = "malformed"
	StopUnknown   Stop = "unknown"
)

// Response is one model answer.
type Response struct {
	ID      string
	Model   string // as reported by the answer; empty when it does not say
	Message Message

	Stop    Stop
	RawStop []string // the provider's words, one a choice; empty when none arrived

	Usage    Usage          // neutral accounting
	Reported Usage          // the provider's own figures, added up over nothing
	RawUsage jsontext.Value // the usage object as it came; nil when none did

	Streamed bool
	// Complete says that all of the answer was read: a whole JSON body, or a
	// stream up to its terminal event without a ProblemBadEvent on the way.
	Complete bool

	// Err is the provider's error, from a failed status or inside a stream with
	// status 200.
	Err *APIError

	// Problems are defects of the answer that did not stop the decoder.
	Problems []Problem

	// Raw fields that EncodeResponse needs to write the answer back: members that
	// no field holds, as a JSON object.
	Extra jsontext.Value
}

// Calls are the answer's client tool calls in wire order.
func (r *Response) Calls() []Block {
	var out []Block
	for _, b := range r.Message.Blocks {
		if b.Kind == KindToolCall {
			out = append(out, b)
		}
	}
	return out
}

// Usage counts tokens. A nil figure was not reported.
//
// In Response.Usage: Input is what was neither read from nor written to the
// cache; Output includes Reasoning.
type Usage struct {
	Input      *int64
	CacheRead  *int64
	CacheWrite *int64
	Output     *int64
	Reasoning  *int64
}

// APIError is an error as the provider worded it.
type APIError struct {
	Status  int    // HTTP status; 200 for an error inside a stream
	Type    string // the provider's type or code: overloaded_error, insufficient_quota
	Kind    string // member "type" of the error object in the body, as it came; "" where the body is no such object
	Code    string // its member "code", as it came
	Message string
}

func (e *APIError) Error() string { return e.Type + ": " + e.Message }

// ProblemKind names a defect of an answer.
type ProblemKind string

// The defects.
const (
	ProblemNoTerminal  ProblemKind = "no_terminal_event"  // the stream ended without its end
	ProblemArgsCut     ProblemKind = "arguments_cut"      // arguments end in the middle
	ProblemArgsInvalid ProblemKind = "arguments_invalid"  // arguments are no JSON, or no object
	ProblemDuplicateID ProblemKind = "duplicate_call_id"  // two calls with one id
	ProblemRepeatedKey ProblemKind = "repeated_chunk_key" // id or name repeated in later chunks: kept once
	ProblemBadEvent    ProblemKind = "bad_event"          // an event whose data is no JSON: skipped, so a part of the answer may be missing
	ProblemChoices     ProblemKind = "several_choices"    // more than one choice: only the first is the turn
)

// Problem is one defect and where it is.
type Problem struct {
	Kind   ProblemKind
	Block  int // index into Message.Blocks, -1 for none
	Detail string
}
