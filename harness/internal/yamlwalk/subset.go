package yamlwalk

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// subset reads the part of YAML in which nearly every scenario is written, at a
// fifth of the library's cost: block mappings and lists, flow collections on
// one line, plain, quoted and literal scalars, comments. At the first byte
// outside of that it gives up, and the library reads the whole text; so it never
// reports an error, and what it accepts it reads as the library does (a fuzz
// test holds the two together).
//
// It gives up on: anchors, aliases, tags, directives, several documents, empty
// values, scalars and flow collections of several lines, folded blocks,
// backslashes in quotes, tabs, carriage returns.
type subset struct {
	text  string
	at    int // where the next byte is read
	line  int // its line, from 0
	start int // where that line begins
	depth int
	nodes []yaml.Node // the next ones to be handed out
	lost  bool        // outside the subset
}

// maxSubsetDepth is where nesting is left to the library's own limits.
const maxSubsetDepth = 30

// readSubset gives the document's root, or nil.
func readSubset(text []byte) *yaml.Node {
	if bytes.IndexByte(text, '\t') >= 0 || bytes.IndexByte(text, '\r') >= 0 || !plainRunes(text) {
		return nil
	}
	s := &subset{text: string(text)}
	if s.content() != 0 {
		return nil
	}
	root := s.block(0)
	if s.lost || s.content() >= 0 {
		return nil
	}
	return root
}

// plainRunes tells that no rune beyond ASCII has a meaning in YAML.
func plainRunes(text []byte) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfffe {
			return false
		}
		i += size
	}
	return true
}

func (s *subset) giveUp() *yaml.Node {
	s.lost = true
	return nil
}

func (s *subset) node(k yaml.Kind, style yaml.Style, value string, from int) *yaml.Node {
	if len(s.nodes) == 0 {
		s.nodes = make([]yaml.Node, 1+(len(s.text)-s.at)/16)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	n.Kind, n.Style, n.Value = k, style, value
	n.Line, n.Column = s.line+1, 1+utf8.RuneCountInString(s.text[s.start:from])
	return n
}

// content moves to the next line that has content, unless it is on one already,
// and gives its indentation; -1 at the end. It must be called between lines.
func (s *subset) content() int {
	for s.at < len(s.text) {
		i := s.at
		for i < len(s.text) && s.text[i] == ' ' {
			i++
		}
		if i == len(s.text) {
			return -1
		}
		if c := s.text[i]; c != '\n' && c != '#' {
			return i - s.at
		}
		s.nextLine(i)
	}
	return -1
}

func (s *subset) nextLine(from int) {
	end := strings.IndexByte(s.text[from:], '\n')
	if end < 0 {
		s.at = len(s.text)
		return
	}
	s.at = from + end + 1
	s.start = s.at
	s.line++
}

// block reads the mapping or list that begins on this line at an indentation.
func (s *subset) block(indent int) *yaml.Node {
	if s.depth++; s.depth > maxSubsetDepth {
		return s.giveUp()
	}
	defer func() { s.depth-- }()
	if s.dash(s.at + indent) {
		return s.list(indent)
	}
	return s.mapping(indent, s.at+indent)
}

func (s *subset) dash(i int) bool {
	return i+1 < len(s.text) && s.text[i] == '-' && s.text[i+1] == ' '
}

func (s *subset) list(indent int) *yaml.Node {
	n := s.node(yaml.SequenceNode, 0, "", s.at+indent)
	for {
		from := s.at + indent + 2
		for from < len(s.text) && s.text[from] == ' ' {
			from++
		}
		var item *yaml.Node
		if _, _, ok := s.key(from); ok {
			item = s.mapping(from-s.start, from)
		} else {
			item = s.value(from, indent)
		}
		if s.lost {
			return nil
		}
		n.Content = append(n.Content, item)
		switch next := s.content(); {
		case next < indent || next == indent && !s.dash(s.at+indent):
			return n // a mapping may go on at a list's own indentation; others give up there
		case next > indent:
			return s.giveUp()
		}
	}
}

// mapping reads a block mapping; its first key is at from, which may lie behind
// a list's dash.
func (s *subset) mapping(indent, from int) *yaml.Node {
	n := s.node(yaml.MappingNode, 0, "", from)
	for {
		key, after, ok := s.key(from)
		if !ok {
			return s.giveUp()
		}
		n.Content = append(n.Content, key)
		value := s.member(after, indent)
		if s.lost {
			return nil
		}
		n.Content = append(n.Content, value)
		switch next := s.content(); {
		case next < indent:
			return n
		case next > indent:
			return s.giveUp()
		}
		from = s.at + indent
	}
}

// member reads the value of a mapping's member: on the key's line, or below.
func (s *subset) member(from, indent int) *yaml.Node {
	for from < len(s.text) && s.text[from] == ' ' {
		from++
	}
	if from < len(s.text) && s.text[from] != '\n' && s.text[from] != '#' {
		return s.value(from, indent)
	}
	s.nextLine(from)
	below := s.content()
	if below > indent || below == indent && s.dash(s.at+indent) {
		return s.block(below)
	}
	return s.giveUp() // an empty value
}

// key reads `name: ` and gives the place behind the colon.
func (s *subset) key(from int) (n *yaml.Node, after int, ok bool) {
	i := from
	if i < len(s.text) && (s.text[i] == '"' || s.text[i] == '\'') {
		return nil, 0, false
	}
	for i < len(s.text) && wordByte(s.text[i]) {
		i++
	}
	if i == from || i-from > 500 || s.text[from] == '-' || i >= len(s.text) || s.text[i] != ':' {
		return nil, 0, false
	}
	if i+1 < len(s.text) && s.text[i+1] != ' ' && s.text[i+1] != '\n' {
		return nil, 0, false
	}
	return s.node(yaml.ScalarNode, 0, s.text[from:i], from), i + 1, true
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '/' || c == '$'
}

// value reads a value that begins on this line, and moves to the next. indent is
// that of the mapping or list it belongs to.
func (s *subset) value(from, indent int) *yaml.Node {
	if from >= len(s.text) {
		return s.giveUp()
	}
	var n *yaml.Node
	switch c := s.text[from]; c {
	case '|':
		return s.literal(from, indent)
	case '[', '{':
		n, from = s.flow(from)
	case '"', '\'':
		n, from = s.quoted(from, c)
	default:
		n, from = s.plain(from)
	}
	if s.lost || !s.endOfLine(from) {
		return s.giveUp()
	}
	s.nextLine(from)
	return n
}

// endOfLine tells that nothing but blanks and a comment follows.
func (s *subset) endOfLine(i int) bool {
	from := i
	for i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	return i == len(s.text) || s.text[i] == '\n' || s.text[i] == '#' && i > from
}

// mayBegin tells whether a plain scalar may begin with the byte; a dash is
// looked at by itself.
func mayBegin(c byte) bool {
	return c > ' ' && strings.IndexByte("-?:,[]{}#&*!|>'\"%@`=<", c) < 0
}

func (s *subset) plain(from int) (*yaml.Node, int) {
	if !mayBegin(s.text[from]) && (s.text[from] != '-' || from+1 == len(s.text) || !wordByte(s.text[from+1])) {
		return s.giveUp(), from
	}
	i := from
	for i < len(s.text) && s.text[i] != '\n' {
		if s.text[i] == ':' && (i+1 == len(s.text) || s.text[i+1] == ' ' || s.text[i+1] == '\n') {
			return s.giveUp(), from
		}
		if s.text[i] == '#' && s.text[i-1] == ' ' {
			break
		}
		i++
	}
	end := i
	for s.text[end-1] == ' ' {
		end--
	}
	if from == s.start && (strings.HasPrefix(s.text[from:], "---") || strings.HasPrefix(s.text[from:], "...")) {
		return s.giveUp(), from
	}
	return s.node(yaml.ScalarNode, 0, s.text[from:end], from), end
}

// quoted reads a quoted scalar that ends on its line.
func (s *subset) quoted(from int, quote byte) (*yaml.Node, int) {
	style := yaml.SingleQuotedStyle
	if quote == '"' {
		style = yaml.DoubleQuotedStyle
	}
	twice := false
	for i := from + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n', c == '\\' && quote == '"':
			return s.giveUp(), from
		case c == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
			twice = true
			i++
		case c == quote:
			value := s.text[from+1 : i]
			if twice {
				value = strings.ReplaceAll(value, "''", "'")
			}
			return s.node(yaml.ScalarNode, style, value, from), i + 1
		}
	}
	return s.giveUp(), from
}

// literal reads a | or |- block.
func (s *subset) literal(from, indent int) *yaml.Node {
	n := s.node(yaml.ScalarNode, yaml.LiteralStyle, "", from)
	from++
	strip := from < len(s.text) && s.text[from] == '-'
	if strip {
		from++
	}
	if from >= len(s.text) || s.text[from] != '\n' || s.text[len(s.text)-1] != '\n' {
		return s.giveUp()
	}
	s.nextLine(from)
	width := s.blanks()
	if width <= indent || s.at+width >= len(s.text) || s.text[s.at+width] == '\n' {
		return s.giveUp()
	}
	if n.Value = s.lines(indent, width); s.lost {
		return nil
	}
	if strip {
		n.Value = strings.TrimSuffix(n.Value, "\n")
	}
	return n
}

// lines reads the lines of a literal block of a width of indentation.
func (s *subset) lines(indent, width int) string {
	var b strings.Builder
	empty := 0
	for s.at < len(s.text) {
		line, _, _ := strings.Cut(s.text[s.at:], "\n")
		blanks := s.blanks()
		if blanks == len(line) && blanks > width {
			s.lost = true // trailing blanks that count
			return ""
		}
		if blanks == len(line) {
			empty++
			s.nextLine(s.at)
			continue
		}
		if blanks < width {
			if blanks > indent {
				s.lost = true
			}
			break
		}
		for range empty {
			b.WriteByte('\n')
		}
		empty = 0
		b.WriteString(line[width:])
		b.WriteByte('\n')
		s.nextLine(s.at)
	}
	return b.String()
}

func (s *subset) blanks() int {
	i := s.at
	for i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	return i - s.at
}
