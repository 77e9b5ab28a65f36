// Package yamlwalk reads the project's own YAML files strictly. What a file may
// say is one table of fields, each with its name, its kind and its meaning: the
// reader, its messages and the JSON Schema for editors are all drawn from it.
//
// The reader walks the nodes itself: unknown fields, fields given twice, and
// values of the wrong kind are each told with line and column, all of a file's
// at once. Values that are passed through as JSON keep their written text.
//
// Of YAML, anchors and aliases may be used (within a bound). Merge keys (<<)
// and tags may not. Plain words are read as JSON reads them: true, false, null
// and numbers in JSON's spelling are such, all else is text. A word that other
// YAML readers take for a number or a truth value (017, .5, True, ~) is refused
// rather than guessed at.
package yamlwalk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// File is one file being read. It is not for concurrent use.
type File struct {
	Name string // as messages show it

	root     *yaml.Node
	problems []Problem
	places   []place
	unfolded int        // values visited behind aliases
	behind   int        // aliases being followed
	alias    *yaml.Node // the outermost of them
	depth    int
	buf      []byte // what JSON values are cut from
}

// Parse reads the text; name is for messages. A text that is no YAML, or not
// one document, is noted as the File's only problem.
func Parse(name string, text []byte) *File {
	f := &File{Name: name}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if at, message := unreadable(text); message != "" {
		f.Failf(at, "%s", message)
		return f
	}
	if f.root = readSubset(text); f.root == nil {
		var doc yaml.Node
		if err := yaml.Load(text, &doc); err != nil {
			f.notYAML(text, err)
			return f
		}
		if len(doc.Content) != 1 {
			f.Failf(Pos{}, "the file is empty")
			return f
		}
		f.root = doc.Content[0]
	}
	f.places = append(make([]place, 0, 48), place{parent: -1, pos: pos(f.root)})
	return f
}

// unreadable finds what makes a text no text.
func unreadable(text []byte) (Pos, string) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return Pos{1, 1}, "the file is UTF-16; save it as UTF-8"
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				return position(text, i), fmt.Sprintf("control character %q; write it as an escape in double quotes", rune(c))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return position(text, i), "the text is not UTF-8"
		}
		i += size
	}
	return Pos{}, ""
}

func position(text []byte, offset int) Pos {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Pos{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])}
}

// notYAML words the parser's error.
func (f *File) notYAML(text []byte, err error) {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		f.Failf(Pos{}, "the file is not valid YAML")
		return
	}
	switch {
	case strings.Contains(le.Message, "found multiple"):
		at := Pos{1, 1}
		if i := bytes.LastIndex(text, []byte("\n---")); i >= 0 {
			at = position(text, i+1)
		}
		f.Failf(at, "the file holds several documents (---); keep one a file")
	case strings.Contains(le.Message, "no documents"):
		f.Failf(Pos{}, "the file is empty")
	case le.ContextMsg != "" && le.ContextMark.Line > 0:
		f.Failf(Pos{le.Mark.Line, le.Mark.Column}, "the file is not valid YAML: %s, %s that begins at %d:%d",
			le.Message, le.ContextMsg, le.ContextMark.Line, le.ContextMark.Column)
	default:
		f.Failf(Pos{le.Mark.Line, le.Mark.Column}, "the file is not valid YAML: %s", le.Message)
	}
}

// Cause is a file error without its path, which the caller's message has
// already.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func pos(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }
