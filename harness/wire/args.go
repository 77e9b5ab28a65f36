package wire

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// ReadArgs fills b's Args and ArgsText from arguments that came as a text, and
// says what is wrong with them; "" for nothing. The Args alias text.
func ReadArgs(b *Block, text []byte) ProblemKind {
	b.Args, b.ArgsText = nil, ""
	if rawjson.Valid(text) {
		b.Args = text
		if !isObject(text) {
			return ProblemArgsInvalid
		}
		return ""
	}
	b.ArgsText = string(text)
	if cut(text) {
		return ProblemArgsCut
	}
	return ProblemArgsInvalid
}

// JudgeArgs says what is wrong with the arguments of a call that came in its own
// JSON, not as a text; "" for nothing. detail is what came.
func JudgeArgs(b *Block) (kind ProblemKind, detail string) {
	switch {
	case isObject(b.Args):
		return "", ""
	case b.Args != nil:
		return ProblemArgsInvalid, string(b.Args)
	}
	var scratch Block
	if kind = ReadArgs(&scratch, []byte(b.ArgsText)); kind == "" {
		kind = ProblemArgsInvalid // an object, but inside a string
	}
	return kind, b.ArgsText
}

func isObject(v []byte) bool {
	c := rawjson.New(v)
	return c.Kind() == '{'
}

// cut tells whether text is the beginning of a JSON value.
func cut(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadValue()
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// DuplicateIDs lists the calls whose id an earlier call of the turn has.
func DuplicateIDs(blocks []Block) []Problem {
	var out []Problem
	for i := range blocks {
		if b := &blocks[i]; b.Kind == KindToolCall && b.ID != "" && calledBefore(blocks[:i], b.ID) {
			out = append(out, Problem{Kind: ProblemDuplicateID, Block: i, Detail: b.ID})
		}
	}
	return out
}

func calledBefore(blocks []Block, id string) bool {
	for i := range blocks {
		if blocks[i].Kind == KindToolCall && blocks[i].ID == id {
			return true
		}
	}
	return false
}
