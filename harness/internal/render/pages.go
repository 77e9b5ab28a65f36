package render

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"image"
	"image/png"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/file"
)

//go:embed host.html
var hostPage string

//go:embed watch.js
var watchScript string

const (
	hostFile   = "host.html"
	widgetFile = "widget.html"
	picture    = "picture.png"
)

// write writes the two pages into the folder.
func write(dir string, p *Page) error {
	token := rand.Text()
	var result struct {
		StructuredContent jsontext.Value `json:"structuredContent"`
	}
	if err := json.Unmarshal(p.Result, &result); err != nil {
		return failure.Errorf(failure.ScenarioInvalid, "the result to show is not an object: %w", err)
	}
	host, err := literal(map[string]any{
		"token": token, "views": Sizes(), "settle": settle.Milliseconds(), "answer": answer.Milliseconds(),
		"input": orNull(p.Input, "{}"), "result": p.Result,
	})
	if err != nil {
		return err
	}
	watch, err := literal(map[string]any{"token": token, "older": p.Older, "input": orNull(p.Input, "{}"), "output": orNull(result.StructuredContent, "null")})
	if err != nil {
		return err
	}
	page := strings.Replace(strings.Replace(hostPage, "{{FRAMES}}", sources(p.Policy.Frame), 1), "RETAKE_HOST", host, 1)
	front := policy(&p.Policy) + "<script>" + strings.Replace(watchScript, "RETAKE_WATCH", watch, 1) + "</script>"
	for name, text := range map[string]string{hostFile: page, widgetFile: inFront(p.HTML, front)} {
		if err := file.Replace(filepath.Join(dir, name), []byte(text)); err != nil {
			return failure.Errorf(failure.World, "a page for the browser: %w", err)
		}
	}
	return nil
}

func orNull(v jsontext.Value, otherwise string) jsontext.Value {
	if v == nil {
		return jsontext.Value(otherwise)
	}
	return v
}

// literal is a value as a script writes it; nothing in it ends the script.
func literal(v any) (string, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
	if err != nil {
		return "", failure.Errorf(failure.ScenarioInvalid, "what the page is to show: %w", err)
	}
	return string(text), nil
}

// beginning is what has to stay in front of everything in a page.
var beginning = regexp.MustCompile(`(?is)^\x{FEFF}?(?:\s|<!--.*?-->)*<!doctype[^>]*>`)

// inFront puts text in front of all that a page does, but not of its doctype, by
// which the browser chooses how to lay it out.
func inFront(page, text string) string {
	n := len(beginning.FindString(page))
	return page[:n] + `<meta charset="utf-8">` + text + page[n:]
}

var origin = regexp.MustCompile(`^(https?|wss?)://[A-Za-z0-9.*-]+(:[0-9]+)?/?$`)

// sources are the origins that can stand in a policy; what is none is left out, as
// hosts do.
func sources(origins []string) string {
	kept := slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return !origin.MatchString(o) })
	return strings.Join(kept, " ")
}

// policy is what a host puts in front of a widget: its own scripts and styles run,
// and nothing is loaded that it has not declared.
func policy(p *Policy) string {
	or := func(always string, origins []string) string {
		if s := strings.TrimSpace(always + " " + sources(origins)); s != "" {
			return s
		}
		return "'none'"
	}
	own := or("'unsafe-inline' data: blob:", p.Resource)
	rules := []string{
		"default-src 'none'", "script-src 'unsafe-eval' 'wasm-unsafe-eval' " + own, "style-src " + own, "img-src " + or("data: blob:", p.Resource), "font-src " + or("data: blob:", p.Resource),
		"media-src " + or("data: blob:", p.Resource), "worker-src blob: data:", "connect-src " + or("data: blob:", p.Connect), "frame-src " + or("", p.Frame),
		"base-uri " + or("", p.BaseURI), "form-action 'none'",
	}
	return `<meta http-equiv="Content-Security-Policy" content="` + strings.Join(rules, "; ") + `">`
}

// read finds what was seen in the page that the browser has printed.
func read(printed []byte) ([]Seen, error) {
	root, err := html.Parse(bytes.NewReader(printed))
	if err != nil {
		return nil, failure.Errorf(failure.World, "what the browser printed: %w", err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !slices.Contains(n.Attr, html.Attribute{Key: "id", Val: "retake"}) || n.FirstChild == nil {
			continue
		}
		var seen []Seen
		if err := json.Unmarshal([]byte(n.FirstChild.Data), &seen, jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, failure.Errorf(failure.World, "what the browser printed: %w", err)
		}
		return seen, nil
	}
	return nil, ErrHangs
}

// height is how much of a frame is in its picture: as a host makes it, as high as
// the page needs.
func height(s Size, tall int) int { return min(s.Height, max(tall, 120)) }

// cut cuts the picture of the window into those of the frames, which stand side by
// side.
func cut(name string, seen []Seen) ([]View, error) {
	text, err := file.Read(name)
	if err != nil {
		return nil, failure.Errorf(failure.World, "the browser took no picture: %w", err)
	}
	window, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, failure.Errorf(failure.World, "the browser's picture: %w", err)
	}
	part, ok := window.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	if !ok || len(seen) != len(Sizes()) {
		return nil, failure.Errorf(failure.World, "the browser's picture is of an unknown kind")
	}
	out := make([]View, len(seen))
	left := 0
	for i, s := range Sizes() {
		var b bytes.Buffer
		if err := png.Encode(&b, part.SubImage(image.Rect(left, 0, left+s.Width, height(s, seen[i].Tall)))); err != nil {
			return nil, failure.Errorf(failure.World, "the picture of a page: %w", err)
		}
		out[i] = View{Seen: seen[i], Picture: b.Bytes()}
		left += s.Width
	}
	return out, nil
}
