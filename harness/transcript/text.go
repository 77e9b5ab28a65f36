package transcript

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/wire"
)

// margin is the width of the first column; further lines of a text begin there.
const margin = 10

func (w *writer) line(kind, text string) {
	start := len(w.out)
	w.out = AppendSafe(w.out, kind, -1) // a role may be anybody's word
	w.out = append(w.out, ' ')
	for len(w.out)-start < margin {
		w.out = append(w.out, ' ')
	}
	w.out = AppendSafe(w.out, strings.TrimRight(text, "\n"), margin)
	w.out = append(w.out, '\n')
}

func (w *writer) blocks(role string, blocks []wire.Block) {
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case wire.KindText:
			w.line(role, b.Text)
		case wire.KindRefusal:
			w.line("refusal", b.Text)
		case wire.KindReasoning:
			w.line("reasoning", b.Text)
		case wire.KindToolCall:
			w.call(b)
		case wire.KindToolResult:
			w.result(b)
		case wire.KindOpaque:
			w.line("block", string(shape(b.Raw)))
		}
	}
}

func (w *writer) call(b *wire.Block) {
	w.calls++
	label := fmt.Sprintf("call-%d", w.calls)
	if b.ID != "" {
		w.ids[b.ID] = label
	}
	w.open, w.turn = append(w.open, openCall{label, b.ID}), append(w.turn, label)
	if b.Args == nil {
		w.line("call", label+" "+b.Name+" cut or invalid: "+b.ArgsText)
		return
	}
	w.line("call", label+" "+b.Name+" "+canonicalText(b.Args))
}

func (w *writer) result(b *wire.Block) {
	label := w.label(b.ID, b.Name)
	if b.IsError {
		label += " error"
	}
	for _, part := range b.Result {
		if part.Kind == wire.KindText {
			w.line("result", label+" "+canonicalText([]byte(part.Text)))
			continue
		}
		w.line("result", label+" "+string(shape(part.Raw)))
	}
	if len(b.Result) == 0 {
		w.line("result", label)
	}
}

// label names a call by its id, or where one of the two sides gives none by its
// place among the calls of the last turn.
func (w *writer) label(id, name string) string {
	if l, ok := w.ids[id]; ok {
		return l
	}
	for i, c := range w.open {
		if id == "" || c.id == "" {
			w.open = slices.Delete(w.open, i, i+1)
			return c.label
		}
	}
	return "call-? " + name
}

// labelOf names the call of an attempt: by its id, else by the call's number in
// the run.
func (w *writer) labelOf(e *journal.ToolAttempt) string {
	if l, ok := w.ids[e.CallID]; ok {
		return l
	}
	if i := e.Call - w.before - 1; e.CallID == "" && i >= 0 && i < len(w.turn) {
		return w.turn[i]
	}
	return "call-? " + e.Tool
}

// canonicalText is JSON in its canonical spelling, other text as it is.
func canonicalText(text []byte) string {
	if len(text) == 0 || (text[0] != '{' && text[0] != '[') {
		return string(text)
	}
	b, err := jsondoc.Canonical(make([]byte, 0, len(text)), text)
	if err != nil {
		return string(text)
	}
	return string(b)
}

// shape is what a transcript shows of a provider's own block: its type.
func shape(raw jsontext.Value) []byte {
	dec := jsontext.NewDecoder(strings.NewReader(string(raw)))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return []byte("data")
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			break
		}
		isType := name.String() == "type"
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		if isType {
			return value
		}
	}
	return []byte("data")
}

// AppendSafe appends text so that it cannot harm a terminal or a reader: control
// characters, invalid UTF-8, characters that reverse the direction of text and
// those in which text can be hidden (the Unicode tags) are spelled out. A line
// break goes on at the column indent.
func AppendSafe(dst []byte, text string, indent int) []byte {
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf && c != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || n > 1) && harmless(r) {
			i += n
			continue
		}
		dst = append(dst, text[start:i]...)
		dst = appendEscaped(dst, r, text[i:i+n], indent)
		i += n
		start = i
	}
	return append(dst, text[start:]...)
}

func harmless(r rune) bool {
	return !unicode.Is(unicode.Bidi_Control, r) && !unicode.IsControl(r) && r != '\u2028' && r != '\u2029' && r != '\ufeff' &&
		(r < 0xe0000 || r > 0xe007f)
}

func appendEscaped(dst []byte, r rune, raw string, indent int) []byte {
	switch {
	case r == '\n' && indent >= 0:
		dst = append(dst, '\n')
		for range indent {
			dst = append(dst, ' ')
		}
		return dst
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Appendf(dst, `\x%02x`, raw[0])
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// Safe is AppendSafe on one line: a line break is spelled out too.
func Safe(text string) string { return string(AppendSafe(nil, text, -1)) }
