package lint

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
)

// Schema names the form of a Document.
const Schema = "retake.lint/1"

// document is the findings for programs.
type document struct {
	Schema   string          `json:"schema"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Accepted int             `json:"accepted"`
	Findings []writtenReport `json:"findings"`
	Notes    []string        `json:"notes"` // what was not looked at, and why
}

type writtenReport struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitzero"`
	Line     int      `json:"line,omitzero"`
	Column   int      `json:"column,omitzero"`
	In       string   `json:"in,omitzero"`
	On       string   `json:"on"`
	Message  string   `json:"message"`
	Mend     string   `json:"mend"`
	Accepted string   `json:"accepted,omitzero"` // the reason
}

// Document is the findings as one JSON object of the form Schema, with those that
// are accepted. notes are what was not looked at.
func Document(found []Finding, notes []string) ([]byte, error) {
	d := document{Schema: Schema, Findings: []writtenReport{}, Notes: append([]string{}, notes...)}
	d.Errors, d.Warnings, d.Accepted = Counts(found)
	for i := range found {
		f := &found[i]
		d.Findings = append(d.Findings, writtenReport{
			Rule: f.Rule, Severity: f.Severity, File: f.Place.File, Line: f.Place.Line, Column: f.Place.Column, In: f.Place.In,
			On: f.On, Message: f.Message, Mend: f.Mend, Accepted: f.Excuse,
		})
	}
	return written(d)
}

// written is a value as indented JSON with a final newline.
func written(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, v, jsontext.WithIndent("  "), jsontext.EscapeForHTML(false)); err != nil {
		return nil, failure.Errorf(failure.Internal, "writing the findings: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
