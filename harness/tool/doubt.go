package tool

import (
	"fmt"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/failure"
)

// inDoubt is the error of a write that may have had its effect. What the tool
// said of it goes to the log: "the payment failed" is more than anybody knows. A
// key makes a second try safe, nothing else does.
func inDoubt(e *Error, keyed bool) *Error {
	out := *e
	out.Retryable = e.Retryable && keyed
	out.Message = whatBroke(e) + "; it is not known whether the call took effect"
	switch {
	case out.Retryable:
		out.Message += ", and repeating it with the same arguments is safe"
	default:
		out.Message += ", so check before you repeat it"
	}
	if e.Detail != "" {
		out.Detail = e.Message + ": " + e.Detail
	} else {
		out.Detail = e.Message
	}
	return &out
}

// whatBroke says what is certain of an attempt in doubt.
func whatBroke(e *Error) string {
	switch {
	case e.Class == failure.ToolTimeout:
		return "the tool did not answer in time"
	case e.Code == CodeCancelled:
		return "the call was cancelled"
	case e.Code == CodeBadOutput:
		return "the tool's answer does not have the promised form"
	}
	return "the tool broke off"
}

// maxMessage is what is shown of an error's message, which is meant to be a
// sentence.
const maxMessage = 4 << 10

// shorten cuts a text to limit bytes, between two characters, the mark that says
// so included.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	// The mark is longest when all is missing.
	keep := max(0, limit-len(cutMark(len(text), len(text))))
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	return text[:keep] + cutMark(len(text)-keep, len(text))
}

func cutMark(missing, of int) string {
	return fmt.Sprintf("\n[cut: %d of %d bytes are missing]", missing, of)
}
