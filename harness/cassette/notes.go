package cassette

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/jsondoc"
)

// Source says how a recording came to be.
type Source string

// The sources.
const (
	Scripted Source = "scripted" // written by hand or by a program
	Recorded Source = "recorded" // taken from real traffic
	Imported Source = "imported" // taken over from what another recorder wrote
)

// FileNotes is the x-retake member of a whole file.
type FileNotes struct {
	Source     Source `json:"source,omitzero"`
	RecordedAt string `json:"recorded_at,omitzero"` // RFC 3339
	Model      string `json:"model,omitzero"`
	SDK        string `json:"sdk,omitzero"` // name and version of the client
	Hashes     Hashes `json:"hashes,omitzero"`

	Unknown jsontext.Value `json:",embed"` // members of later versions, kept when the file is written
}

// Hashes are SHA-256 sums, in hex, of what a recording was made with.
type Hashes struct {
	System   string `json:"system,omitzero"`
	Tools    string `json:"tools,omitzero"`
	Scenario string `json:"scenario,omitzero"`
}

// Notes is the x-retake member of one interaction. What it leaves out holds as
// the file says.
type Notes struct {
	Source     Source `json:"source,omitzero"`
	RecordedAt string `json:"recorded_at,omitzero"` // RFC 3339
	Model      string `json:"model,omitzero"`
	SDK        string `json:"sdk,omitzero"`
	Hashes     Hashes `json:"hashes,omitzero"`

	// Chunks is the pace of a streamed body: what had arrived by when.
	Chunks []Chunk `json:"chunk_offsets,omitzero"`
	// Complete tells whether the body was received to its end; nil when unknown.
	Complete *bool `json:"complete,omitzero"`
	// Transport is set when the exchange ended in an error instead.
	Transport *TransportError `json:"transport_error,omitzero"`

	Unknown jsontext.Value `json:",embed"`
}

// Chunk is one arrival of body bytes.
type Chunk struct {
	Bytes  int   `json:"bytes"` // length of the body so far
	Micros int64 `json:"us"`    // since the request was sent
}

// TransportKind names how an exchange broke.
type TransportKind string

// The kinds of transport errors.
const (
	TransportReset   TransportKind = "reset"   // the connection was reset
	TransportRefused TransportKind = "refused" // the connection was refused
	TransportTimeout TransportKind = "timeout" // no answer in time
	TransportCut     TransportKind = "cut"     // the body ended early, after the bytes that were kept
	TransportDNS     TransportKind = "dns"     // the host's name was not found
	TransportClosed  TransportKind = "closed"  // the connection was closed instead of an answer
	// TransportCancelled: the client itself gave up before the answer began.
	TransportCancelled TransportKind = "cancelled"
	TransportOther     TransportKind = "other" // anything else, known by its message alone
)

// TransportError is a recorded failure of the transport. Where the answer had
// begun (it has a status code), its kept bytes arrive first.
type TransportError struct {
	Kind    TransportKind `json:"kind"`
	Message string        `json:"message,omitzero"` // as the client worded it
}

func (e *TransportError) known() bool {
	switch e.Kind {
	case TransportReset, TransportRefused, TransportTimeout, TransportCut, TransportDNS, TransportClosed, TransportCancelled, TransportOther:
		return true
	}
	return false
}

// decodeNotes reads the JSON spelling of an x-retake member into a *FileNotes
// or *Notes. What it does not know is kept in canonical spelling.
func decodeNotes(text []byte, into any) error {
	canonical, err := jsondoc.Canonical(nil, text)
	if err != nil {
		return err
	}
	return json.Unmarshal(canonical, into)
}

// encodeNotes appends the one-line JSON spelling, which is YAML too. It is
// empty for notes that say nothing.
func encodeNotes(dst []byte, notes any) ([]byte, error) {
	text, err := json.Marshal(notes, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	if err != nil || string(text) == "{}" {
		return dst, err
	}
	return append(dst, text...), nil
}

// plainJSONError says where notes do not fit, without naming Go types.
func plainJSONError(err error) string {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Sprintf("the value at %q has the wrong type", string(semantic.JSONPointer))
	}
	return "it is not readable as JSON"
}

// maxKey is well below the length at which YAML stops to take a text for a key.
const maxKey = 1000

// jsonIsYAML tells whether one line of JSON is spelled so that every YAML
// parser reads it alike: a space behind each colon and comma, plain numbers, no
// halves of characters.
func jsonIsYAML(line []byte) bool {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			n := plainString(line[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case c == ':' || c == ',':
			if i+1 >= len(line) || line[i+1] != ' ' {
				return false
			}
		case c == 'e' || c == 'E':
			if i > 0 && line[i-1] >= '0' && line[i-1] <= '9' {
				return false
			}
		case c == '\t' || c == '-' && i+1 < len(line) && line[i+1] == '0':
			return false
		}
	}
	return true
}

// plainString is the length of the quoted string at the beginning of b; 0 when
// it is long or has an escape by number.
func plainString(b []byte) int {
	for i := 1; i < len(b) && i < maxKey; i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
			if i < len(b) && b[i] == 'u' {
				return 0
			}
		}
	}
	return 0
}
