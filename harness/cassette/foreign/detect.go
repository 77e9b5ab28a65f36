package foreign

import (
	"bytes"
	"unicode/utf8"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/wire/sse"
)

// readable ends the message about a file of no known format.
const readable = "retake reads go-vcr, VCR.py, Ruby VCR, httprr, HAR, and bodies as JSON or event streams"

// read finds out the format and reads it.
func read(text []byte, name string) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil, invalid(name, 1, 1, "the file is empty")
	case bytes.HasPrefix(text, []byte(httprrMagic)):
		return readHTTPRR(text, name)
	}
	if err := refuseBinary(text, name); err != nil {
		return nil, err
	}
	switch {
	case trimmed[0] == '{' || trimmed[0] == '[':
		return readJSON(text, name)
	case isStream(trimmed):
		return readAnswer(text, name)
	case bytes.HasPrefix(trimmed, []byte("version: 2")), bytes.HasPrefix(trimmed, []byte("---\nversion: 2")):
		return readGoVCR(text, name)
	}
	return readYAML(text, name)
}

// isStream tells an event stream by its first line that is no comment.
func isStream(trimmed []byte) bool {
	for line := range bytes.Lines(trimmed) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == ':' {
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(field) {
		case "event":
			return len(value) > 0 && sse.Is("", trimmed)
		case "data":
			return len(value) > 0 && (value[0] == '{' || value[0] == '[') && sse.Is("", trimmed)
		}
		return false
	}
	return false
}

// kinds of binary files by their first bytes.
var kinds = [...]struct{ magic, what string }{
	{"OggS", "audio (Ogg)"},
	{"ID3", "audio (MP3)"},
	{"\xff\xfb", "audio (MP3)"},
	{"\xff\xf3", "audio (MP3)"},
	{"RIFF", "audio or an image (RIFF)"},
	{"fLaC", "audio (FLAC)"},
	{"\x89PNG", "an image (PNG)"},
	{"\xff\xd8\xff", "an image (JPEG)"},
	{"GIF8", "an image (GIF)"},
	{"%PDF", "a document (PDF)"},
	{"PK\x03\x04", "an archive (ZIP)"},
	{"\x28\xb5\x2f\xfd", "packed with zstandard; unpack it first"},
	{"SQLite format 3", "a database (SQLite)"},
}

// refuseBinary names what cannot be a recording in any of the formats of text.
func refuseBinary(text []byte, name string) error {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r != 0 && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		for _, k := range kinds {
			if bytes.HasPrefix(text, []byte(k.magic)) {
				return invalid(name, 1, 1, "the file is %s, no recording of requests and answers", k.what)
			}
		}
		line, column := position(text, i)
		return invalid(name, line, column, "byte 0x%02x: this is a binary file, no recording", text[i])
	}
	return nil
}

// position is the line and column of an offset, from 1.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	return 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')
}

func readGoVCR(text []byte, name string) (*File, error) {
	f, err := cassette.Read(text, name)
	if err != nil {
		return nil, err
	}
	return &File{File: f, Format: GoVCR}, nil
}

// byTree reads a file of YAML or JSON by the members that it has.
func byTree(root *node, text []byte, name string) (*File, error) {
	r := newReader(name)
	switch {
	case root.get("http_interactions") != nil:
		return r.rubyVCR(root.get("http_interactions"))
	case root.get("log").get("entries") != nil:
		return r.har(root.get("log").get("entries"))
	}
	if err := notRead(root, name); err != nil {
		return nil, err
	}
	if all := root.get("interactions"); all != nil {
		if first := all.head().get("request"); first.get("uri") != nil && first.get("url") == nil {
			return r.vcrpy(all)
		}
		return readGoVCR(text, name)
	}
	if asked, answered := root.get("requests"), root.get("responses"); asked.is(list) && answered.is(list) {
		return r.split(asked, answered)
	}
	if root.get("request").is(object) && root.get("response") != nil {
		return r.exchange(root)
	}
	return nil, nil //nolint:nilnil // no format that has a tree: the caller knows what else it may be
}

// notRead refuses by name what is known and not read.
func notRead(root *node, name string) error {
	first := root
	if root.kind == list {
		first = root.head()
	}
	var what string
	switch one := root.get("interactions").head(); {
	case one.get("direction") != nil && one.get("request") == nil:
		return invalid(name, one.line, one.column, "the file holds the frames of a websocket, which are no requests with answers; they cannot be replayed")
	case first.get("scope") != nil && first.get("path") != nil:
		what = "a recording of nock"
	case root.get("when") != nil && root.get("then") != nil:
		what = "a recording of httpmock"
	case root.get("mappings") != nil, root.get("request").get("bodyPatterns") != nil, root.get("request").get("urlPattern") != nil,
		root.get("request").get("urlPath") != nil, root.get("response").get("bodyFileName") != nil:
		what = "a stub of WireMock"
	default:
		return nil
	}
	return invalid(name, 1, 1, "the file is %s, a format that is not read; %s", what, readable)
}
