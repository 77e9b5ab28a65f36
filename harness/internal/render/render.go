// Package render shows a widget in a headless Chromium, as a host would: in a
// frame of its own, with the result of a tool call handed to it, under its content
// security policy, and without a network. It says what a person would see, and
// takes pictures.
//
// No library drives the browser. A page in a temporary folder plays the host, a
// script in front of the widget's own looks at it, and what they have seen is read
// from the page that Chromium prints at the end. Time in the page is virtual.
//
// The host speaks MCP Apps (JSON-RPC over postMessage): it answers ui/initialize,
// and sends the result when the widget says that it is ready. An older widget finds
// window.openai as well.
//
// What the package returns may be anything that a page can write: it is to be
// escaped before it is shown.
package render

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
)

// Page is a widget and what it is to show.
type Page struct {
	HTML   string
	Policy Policy
	// Older says that the host also has window.openai, as ChatGPT's.
	Older  bool
	Input  jsontext.Value // the arguments of the call; nil: none
	Result jsontext.Value // the result of the call: {content, structuredContent, isError}
	Dark   bool           // the person prefers a dark screen
}

// Policy are the origins that a widget may load from, as its CSP names them.
type Policy struct {
	Connect, Resource, Frame, BaseURI []string
}

// Size is one of a frame, in CSS pixels.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Sizes are those at which a page is shown: a telephone and a desktop.
func Sizes() []Size { return []Size{{390, 844}, {1440, 900}} }

// View is what was seen of a page at one size.
type View struct {
	Seen
	Picture []byte // PNG
}

// Seen is what the page says when it has settled.
type Seen struct {
	Width    int      `json:"width"`
	Looked   bool     `json:"looked"`   // false: the page is gone, and nothing else is known
	Started  bool     `json:"started"`  // it has said that it is ready for the result
	Text     string   `json:"text"`     // what can be read
	Texts    []Text   `json:"texts"`    // the same by pieces
	States   []string `json:"states"`   // values of data-state that are visible
	Waiting  []string `json:"waiting"`  // what says that it still waits
	Controls int      `json:"controls"` // buttons, links and fields
	Drawn    int      `json:"drawn"`    // parts whose contents nobody can read: canvases, frames, videos
	Errors   []string `json:"errors"`   // exceptions that nobody caught
	Console  []string `json:"console"`  // what it wrote as errors
	Refused  []string `json:"refused"`  // what the policy stopped: directive, and address
	Left     []string `json:"left"`     // where it went by itself; of all sizes, at the first
	Asked    []string `json:"asked"`    // origins that it may ask, and that cannot be reached from here
	Calls    []string `json:"calls"`    // tools that it called by itself
	Markup   bool     `json:"markup"`   // Markup became an element, or ran
	Wide     int      `json:"wide"`     // how many pixels it is wider than its frame
	Tall     int      `json:"tall"`     // how many pixels its body is high
}

// Text is a piece of text.
type Text struct {
	Text    string `json:"text"`
	Heading bool   `json:"heading"`
}

// Markup is a text that must stay one: Seen.Markup tells that a page took it for
// HTML.
const Markup = `<b data-retake-markup>bold</b><img src="data:," onerror="retakeMarkup()">`

const (
	settle   = 3 * time.Second // of the page's time, from when it is loaded to the look
	answer   = time.Second     // of the page's time, for the look
	patience = time.Minute     // of real time, for all of it
	mostText = 32 << 20
)

// ErrHangs is the cause of a page that never came to rest.
var ErrHangs = errors.New("the page does not come to rest")

// Show shows the page at each of Sizes. A page that keeps the browser busy until
// it is ended gives ErrHangs; another error is of class world.
func (b *Browser) Show(ctx context.Context, p Page) ([]View, error) {
	dir, err := os.MkdirTemp("", "retake-render-")
	if err != nil {
		return nil, failure.Errorf(failure.World, "a folder for the browser: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := write(dir, &p); err != nil {
		return nil, err
	}
	printed, err := b.run(ctx, dir, p.Dark)
	if err != nil {
		return nil, err
	}
	seen, err := read(printed)
	if err != nil {
		return nil, err
	}
	return cut(filepath.Join(dir, picture), seen)
}

// run runs Chromium to its end; what it prints is the host page as it is then.
func (b *Browser) run(ctx context.Context, dir string, dark bool) ([]byte, error) {
	timed, cancel := clock.WithTimeout(ctx, cmp.Or(b.Patience, patience))
	defer cancel()
	out, err := process.Run(timed, process.Command{Args: b.args(dir, dark), Env: b.environment(dir), Dir: dir}, nil, mostText)
	switch {
	case ctx.Err() != nil:
		return nil, failure.Errorf(failure.Interrupted, "interrupted")
	case timed.Err() != nil:
		return nil, ErrHangs
	case err != nil:
		return nil, failure.Errorf(failure.World, "the browser %s: %w", b.Program, err)
	case out.Code != 0:
		return nil, failure.Errorf(failure.World, "the browser %s ended with code %d; standard error: %q", b.Program, out.Code, last(out.Stderr))
	}
	return out.Stdout, nil
}

// last is the end of a text.
func last(s string) string { return s[max(0, len(s)-300):] }

func (b *Browser) args(dir string, dark bool) []string {
	width, height := 0, 0
	for _, s := range Sizes() {
		width, height = width+s.Width, max(height, s.Height)
	}
	args := []string{
		b.Program, "--headless", "--disable-gpu", "--hide-scrollbars", "--mute-audio", "--no-first-run", "--no-default-browser-check",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--lang=en",
		// No network: no name is found, and nothing of the browser's own goes out.
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
		"--virtual-time-budget=" + strconv.FormatInt((settle+2*answer).Milliseconds(), 10),
		// Higher than the frames: a part of the window is the browser's own.
		"--window-size=" + strconv.Itoa(width) + "," + strconv.Itoa(height+200), "--force-device-scale-factor=1",
		"--dump-dom", "--screenshot=" + filepath.Join(dir, picture),
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to run as root with one
	}
	if dark {
		args = append(args, "--force-dark-mode", "--blink-settings=preferredColorScheme=0")
	} else {
		args = append(args, "--blink-settings=preferredColorScheme=1")
	}
	return append(args, "file://"+filepath.ToSlash(filepath.Join(dir, hostFile)))
}
