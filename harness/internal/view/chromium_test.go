package view_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/internal/render"
)

// chromium is a headless browser with one tab, which is told what to do over a
// pipe, in the DevTools protocol. It does one thing after the other.
type chromium struct {
	tb      testing.TB
	in      io.WriteCloser
	out     *bufio.Reader
	ids     int
	session string
	loaded  int      // how many pages have been loaded
	wrong   []string // exceptions, and what the console calls an error
}

// open starts the browser; the test is skipped where there is none.
func open(tb testing.TB) *chromium {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("the browser is told over a pipe that Windows does not hand on")
	}
	b, err := render.Find(os.Getenv)
	if errors.Is(err, render.ErrNone) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	args := []string{
		"--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--no-default-browser-check", "--user-data-dir=" + filepath.Join(dir, "profile"), "--lang=en",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--force-device-scale-factor=1",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(b.Program, append(args, "about:blank")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "TZ=UTC", "LANG=C.UTF-8"}
	theirIn, in, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	c := &chromium{tb: tb, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	tb.Cleanup(func() {
		c.session = ""
		_ = c.call("Browser.close", nil, nil)
		_, _ = in.Close(), out.Close()
		_ = cmd.Wait()
	})
	var target struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	c.must("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	c.must("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	c.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		c.must(domain+".enable", nil, nil)
	}
	return c
}

// call does one thing and waits for its answer; what happens meanwhile is kept.
func (c *chromium) call(method string, params, result any) error {
	c.ids++
	if params == nil {
		params = struct{}{}
	}
	message := map[string]any{"id": c.ids, "method": method, "params": params}
	if c.session != "" {
		message["sessionId"] = c.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := c.in.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		answer, err := c.next()
		switch {
		case err != nil:
			return err
		case answer.ID != c.ids:
			continue
		case answer.Error != nil:
			return errors.New(method + ": " + string(answer.Error))
		case result != nil:
			return json.Unmarshal(answer.Result, result)
		}
		return nil
	}
}

type answer struct {
	ID     int            `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

func (c *chromium) next() (answer, error) {
	text, err := c.out.ReadBytes(0)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), &a, jsontext.AllowInvalidUTF8(true)); err != nil {
		return answer{}, err
	}
	switch a.Method {
	case "Page.loadEventFired":
		c.loaded++
	case "Runtime.exceptionThrown":
		c.wrong = append(c.wrong, string(a.Params))
	case "Log.entryAdded", "Runtime.consoleAPICalled":
		if bytes.Contains(a.Params, []byte(`"level":"error"`)) || bytes.Contains(a.Params, []byte(`"type":"error"`)) {
			c.wrong = append(c.wrong, string(a.Params))
		}
	}
	return a, nil
}

func (c *chromium) must(method string, params, result any) {
	c.tb.Helper()
	if err := c.call(method, params, result); err != nil {
		c.tb.Fatal(err)
	}
}

// evalAcross is eval that begins again when the page is loaded anew meanwhile.
func (c *chromium) evalAcross(script string, result any) {
	c.tb.Helper()
	for {
		var out struct {
			Result struct {
				Value jsontext.Value `json:"value"`
			} `json:"result"`
		}
		err := c.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &out)
		switch {
		case err != nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context")):
			continue
		case err != nil:
			c.tb.Fatal(err)
		case out.Result.Value == nil: // the page went away
			continue
		}
		if err := json.Unmarshal(out.Result.Value, result); err != nil {
			c.tb.Fatalf("%.200s: %v: %s", script, err, out.Result.Value)
		}
		return
	}
}

// eval runs JavaScript in the page, waits for a promise, and reads what it gives.
func (c *chromium) eval(script string, result any) {
	c.tb.Helper()
	var out struct {
		Result struct {
			Value jsontext.Value `json:"value"`
		} `json:"result"`
		Exception jsontext.Value `json:"exceptionDetails"`
	}
	c.must("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &out)
	if out.Exception != nil {
		c.tb.Fatalf("%.200s\n%s", script, out.Exception)
	}
	if result != nil {
		if err := json.Unmarshal(out.Result.Value, result); err != nil {
			c.tb.Fatalf("%.200s: %v: %s", script, err, out.Result.Value)
		}
	}
}

// until waits in the page for a condition, from frame to frame.
func (c *chromium) until(condition string) {
	c.tb.Helper()
	var ok bool
	c.evalAcross(`new Promise((done) => { let n = 0; const look = () => { let is = false; try { is = !!(`+condition+`); } catch {} if (is || n++ > 600) done(is); else requestAnimationFrame(look); }; look(); })`, &ok)
	if !ok {
		var text string
		c.eval(`location.href.slice(-200) + "\n" + document.body.innerText.slice(0, 1500)`, &text)
		c.tb.Fatalf("it never came to be: %s\n%s\n%s", condition, text, strings.Join(c.wrong, "\n"))
	}
}

// visit loads a page, and waits until its reports are shown.
func (c *chromium) visit(url string) {
	c.tb.Helper()
	before := c.loaded
	c.must("Page.navigate", map[string]any{"url": url}, nil)
	for c.loaded == before {
		if _, err := c.next(); err != nil {
			c.tb.Fatal(err)
		}
	}
	c.until(`document.documentElement.dataset.ready !== undefined`)
}

// at goes to another place in the page, and waits until a heading has the words.
func (c *chromium) at(hash, heading string) {
	c.tb.Helper()
	c.eval(`location.hash = `+quoted(hash), nil)
	c.until(`document.querySelector("main h1, main .empty h2")?.textContent.includes(` + quoted(heading) + `)`)
}

func quoted(s string) string {
	text, _ := jsontext.AppendQuote(nil, s)
	return string(text)
}

// screen sets the size of the screen, and which colours the person likes.
func (c *chromium) screen(width, height int, theme string) {
	c.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	c.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

// picture writes what is seen into the test's artefacts (go test -artifacts).
func (c *chromium) picture(dir, name string) {
	c.tb.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	c.must("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	text, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), text, 0o600)
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// press presses keys, one after the other: a character, or a key's name.
func (c *chromium) press(keys ...string) {
	c.tb.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "End": 35, "Home": 36, "PageDown": 34, " ": 32}
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
		switch {
		case key == "Enter":
			down["text"] = "\r"
		case len(key) == 1:
			down["text"] = key
		}
		c.must("Input.dispatchKeyEvent", down, nil)
		c.must("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
	}
}

// calm fails the test when something went wrong in the page.
func (c *chromium) calm() {
	c.tb.Helper()
	if len(c.wrong) > 0 {
		c.tb.Errorf("in the page: %s", strings.Join(c.wrong, "\n"))
		c.wrong = nil
	}
}
