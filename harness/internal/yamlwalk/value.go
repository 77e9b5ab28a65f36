package yamlwalk

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Value is one value of a file.
type Value struct {
	file  *File
	node  *yaml.Node
	place int32
}

// Pos is where the value begins.
func (v Value) Pos() Pos { return pos(v.node) }

// File is the file of the value.
func (v Value) File() *File { return v.file }

// Failf notes a problem with the value.
func (v Value) Failf(format string, args ...any) { v.file.Failf(v.Pos(), format, args...) }

// Bounds on what one file may make of itself.
const (
	maxUnfolded = 10_000 // values behind aliases
	maxDepth    = 100
)

// open follows aliases and refuses what no value may be. close must be called
// when it gave true.
func (v *Value) open() bool {
	f := v.file
	if f.depth >= maxDepth {
		v.Failf("nested deeper than %d levels", maxDepth)
		return false
	}
	if f.behind > 0 {
		if f.unfolded++; f.unfolded > maxUnfolded {
			if f.unfolded == maxUnfolded+1 {
				f.Failf(pos(f.alias), "the aliases unfold to more than %d values", maxUnfolded)
			}
			return false
		}
	}
	if v.node.Kind == yaml.AliasNode {
		return v.follow()
	}
	if v.node.Style&yaml.TaggedStyle != 0 && v.node.Tag != "!!str" {
		v.Failf("the tag %s is not known here; drop it", v.node.Tag)
		return false
	}
	f.depth++
	return true
}

func (v *Value) follow() bool {
	to := Value{v.file, v.node.Alias, v.place}
	if v.file.behind == 0 {
		v.file.alias = v.node
	}
	v.file.behind++
	v.file.depth++ // an alias is a level of its own, so that one to itself ends
	ok := to.open()
	v.file.depth--
	v.file.behind--
	if !ok {
		return false
	}
	v.file.behind++
	*v = Value{to.file, to.node, to.place}
	return true
}

// close ends what open began; was is the value before open.
func (v Value) close(was Value) {
	v.file.depth--
	if was.node.Kind == yaml.AliasNode {
		v.file.behind--
	}
}

type shape uint8

const (
	scalar shape = 1 << iota
	list
	mapping
)

func (v Value) shape() shape {
	switch v.node.Kind {
	case yaml.SequenceNode:
		return list
	case yaml.MappingNode:
		return mapping
	default:
		return scalar
	}
}

// word is what a plain scalar is in JSON.
type word uint8

const (
	wordText word = iota
	wordNull
	wordBool
	wordNumber
	wordUnclear // a number or truth value to YAML, and not to JSON
)

// core are the plain words that YAML 1.2's core schema takes for something
// else than text.
var core = regexp.MustCompile(`^(?:~|[Nn]ull|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`) //nolint:misspell // letters of either case, then the rest of a word

func (v Value) word() word {
	n := v.node
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&(quoted|yaml.TaggedStyle) != 0 {
		return wordText
	}
	switch n.Value {
	case "", "null":
		return wordNull
	case "true", "false":
		return wordBool
	}
	c := n.Value[0]
	if c >= '0' && c <= '9' || c == '-' {
		if jsonNumber(n.Value) {
			return wordNumber
		}
	}
	if strings.IndexByte("0123456789+-.~NnTtFf", c) >= 0 && core.MatchString(n.Value) {
		return wordUnclear
	}
	return wordText
}

// jsonNumber tells whether s is a number in JSON's spelling.
func jsonNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// is names what the value is, for messages.
func (v Value) is() string {
	switch v.shape() {
	case list:
		return "a list"
	case mapping:
		return "a mapping"
	default:
		return v.isWord()
	}
}

func (v Value) isWord() string {
	switch v.word() {
	case wordNull:
		return "empty"
	case wordBool, wordNumber:
		return v.node.Value
	default:
		return quote(v.node.Value)
	}
}

func (v Value) unclear() {
	v.Failf("%s is a number, truth value or null to some readers and text to others; write it as JSON does, or in quotes as text", v.node.Value)
}
