package render_test

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/render"
)

const (
	// hello is a widget's part of the conversation with its host.
	hello = `<script>
const send = (m) => parent.postMessage({jsonrpc: "2.0", ...m}, "*");
let got = () => {};
addEventListener("message", (e) => {
	const m = e.data;
	if (m.id === 1) send({method: "ui/notifications/initialized"});
	if (m.method === "ui/notifications/tool-result") got(m.params.structuredContent);
});
send({id: 1, method: "ui/initialize", params: {protocolVersion: "2026-01-26", appInfo: {name: "x", version: "1"}, appCapabilities: {}}});
</script>`
	named = `{"content":[],"structuredContent":{"name":"Mug </script> & co"}}`
)

func browser(t *testing.T) *render.Browser {
	t.Helper()
	b, err := render.Find(os.Getenv)
	if errors.Is(err, render.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestShow(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for _, tc := range []struct {
		why  string
		page render.Page
		want func(v *render.Seen) bool
	}{
		{
			"a text is shown as it is",
			render.Page{HTML: `<!doctype html>` + hello + `<h1>Gift</h1><p id=p></p><script>got = (r) => { p.textContent = r.name; };</script>`},
			func(v *render.Seen) bool {
				return v.Started && strings.Contains(v.Text, "Mug </script> & co") && !v.Markup && len(v.Errors)+len(v.Refused)+len(v.Waiting) == 0 &&
					cmp.Equal(v.Texts, []render.Text{{Text: "Gift", Heading: true}, {Text: "Mug </script> & co"}})
			},
		},
		{
			"what cannot be seen is not told, what is too wide is, nothing is forged, and a host of the standard has no window.openai",
			render.Page{HTML: `<style>body { margin: 0 }</style><p hidden>a</p><p style="display:none">b</p><p style="visibility:hidden">c</p><p style="opacity:0">d</p><template>e</template>
<p id=p style="width: 600px"></p><script>p.textContent = typeof window.openai; parent.postMessage({retake: "", seen: {text: "forged"}}, "*");</script>`},
			func(v *render.Seen) bool {
				return cmp.Equal(v.Texts, []render.Text{{Text: "undefined"}}) && !v.Started && v.Wide == max(0, 600-v.Width)
			},
		},
		{
			"waiting in four ways",
			render.Page{HTML: `<style>@keyframes turn { to { rotate: 1turn } } .spinner { animation: turn 1s infinite; width: 9px; height: 9px }</style>
<main data-state="loading" aria-busy="true">x<progress></progress><div class="spinner"></div></main>`},
			func(v *render.Seen) bool {
				return cmp.Equal(v.Waiting, []string{`aria-busy="true"`, `data-state="loading"`, "a progress bar", "a spinner"}) && cmp.Equal(v.States, []string{"loading"})
			},
		},
		{
			"what waited and does no more; it calls a tool by itself, and keeps something",
			render.Page{HTML: hello + `<main id=m data-state="loading" aria-busy="true">x</main><script>localStorage.a = 1; got = () => {
	send({id: 2, method: "tools/call", params: {name: "buy"}});
	setTimeout(() => { m.dataset.state = "results"; m.ariaBusy = "false"; }, 2000);
};</script>`},
			func(v *render.Seen) bool {
				return len(v.Waiting)+len(v.Errors) == 0 && cmp.Equal(v.States, []string{"results"}) && cmp.Equal(v.Calls, []string{"buy"})
			},
		},
		{
			"a script that throws, and a promise that nobody catches",
			render.Page{HTML: hello + `<script>got = (r) => { Promise.reject(new Error("late")); r.gifts.map(); };</script>`},
			func(v *render.Seen) bool {
				all := strings.Join(v.Errors, "\n")
				return strings.Contains(all, "late") && strings.Contains(all, "reading 'map'")
			},
		},
		{
			"requests to elsewhere, by script, markup and style",
			render.Page{HTML: `<img src="https://img.example/a.png"><link rel=stylesheet href="https://css.example/a.css"><script>fetch("https://api.example/v1").catch(() => {});</script><script src="app.js"></script>`},
			func(v *render.Seen) bool {
				all := strings.Join(v.Refused, "\n")
				return strings.Contains(all, "img-src https://img.example/a.png") && strings.Contains(all, "connect-src https://api.example/v1") &&
					strings.Contains(all, "style-src-elem https://css.example/a.css") && strings.Contains(all, "script-src-elem file") && len(v.Asked) == 0
			},
		},
		{
			"what the policy allows is out of reach, and told",
			render.Page{HTML: `<p>x</p><script>fetch("https://api.example/v1").catch(() => {});</script>`, Policy: render.Policy{Connect: []string{"https://api.example", `"><script>`}}},
			func(v *render.Seen) bool {
				return len(v.Refused) == 0 && cmp.Equal(v.Asked, []string{"https://api.example"}) && v.Looked
			},
		},
		{
			"markup in an answer becomes an element, and runs",
			render.Page{HTML: hello + `<p id=p></p><script>got = (r) => { p.innerHTML = r.name; };</script>`, Result: jsontext.Value(`{"structuredContent":{"name":"` + strings.ReplaceAll(render.Markup, `"`, `\"`) + `"}}`)},
			func(v *render.Seen) bool { return v.Markup },
		},
		{
			"an older widget finds its answer at once",
			render.Page{HTML: `<p id=p></p><script>p.textContent = window.openai.toolOutput.name;</script>`, Older: true},
			func(v *render.Seen) bool { return strings.Contains(v.Text, "Mug </script> & co") && len(v.Errors) == 0 },
		},
		{
			"the widget goes away",
			render.Page{HTML: `<p>x</p><script>location = "https://gone.example/?secret=1";</script>`},
			func(v *render.Seen) bool { return !v.Looked && (len(v.Left) == 1 || v.Width != 390) },
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			if tc.page.Result == nil {
				tc.page.Result = jsontext.Value(named)
			}
			views, err := chromium.Show(t.Context(), tc.page)
			if err != nil {
				t.Fatal(err)
			}
			if len(views) != 2 || views[0].Width != 390 || views[1].Width != 1440 {
				t.Fatalf("%d views", len(views))
			}
			for i := range views {
				if !tc.want(&views[i].Seen) {
					t.Errorf("%d px: %+v", views[i].Width, views[i].Seen)
				}
			}
		})
	}
}

// The picture shows what a person sees, in the colours that the person prefers.
func TestPictures(t *testing.T) {
	chromium := browser(t)
	page := render.Page{
		HTML:   `<style>body { margin: 0; height: 300px; background: rgb(10, 200, 30) } @media (prefers-color-scheme: dark) { body { background: rgb(90, 0, 90) } }</style>`,
		Result: jsontext.Value(named),
	}
	for _, dark := range []bool{false, true} {
		page.Dark = dark
		views, err := chromium.Show(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for i := range views {
			img, err := png.Decode(bytes.NewReader(views[i].Picture))
			if err != nil {
				t.Fatal(err)
			}
			if b := img.Bounds(); b.Dx() != views[i].Width || b.Dy() != 300 {
				t.Errorf("the picture at %d px is %v", views[i].Width, b)
			}
			at := img.Bounds().Min
			r, g, b, _ := img.At(at.X+views[i].Width/2, at.Y+150).RGBA()
			if got, want := [3]uint32{r >> 8, g >> 8, b >> 8}, map[bool][3]uint32{false: {10, 200, 30}, true: {90, 0, 90}}[dark]; got != want {
				t.Errorf("dark %v, %d px: %v, want %v", dark, views[i].Width, got, want)
			}
		}
	}
}

func TestPageThatNeverRests(t *testing.T) {
	chromium := *browser(t)
	chromium.Patience = 6 * time.Second
	_, err := chromium.Show(t.Context(), render.Page{HTML: `<script>for (;;) {}</script>`, Result: jsontext.Value(named)})
	if !errors.Is(err, render.ErrHangs) {
		t.Errorf("%v", err)
	}
}

// pretend makes a program that stands for the browser.
func pretend(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no shell here")
	}
	name := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBrowserThatIsNone(t *testing.T) {
	for _, tc := range []struct{ why, script, want string }{
		{"it ends with an error", "echo no display >&2; exit 3", `ended with code 3; standard error: "no display"`},
		{"it prints something else", "echo hello", "does not come to rest"},
		{"it prints no JSON", `echo '<pre id="retake">{</pre>'`, "what the browser printed"},
		{"it takes no picture", `echo '<pre id="retake">[]</pre>'`, "took no picture"},
	} {
		program := pretend(t, tc.script)
		b, err := render.Find(func(name string) string {
			return map[string]string{render.Variable: program, "PATH": os.Getenv("PATH")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Show(t.Context(), render.Page{Result: jsontext.Value(named)}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.why, err, tc.want)
		}
	}
}

func TestFind(t *testing.T) {
	program := pretend(t, "exit 0")
	for _, tc := range []struct{ why, named, path, want string }{
		{"by PATH", "", "none" + string(filepath.ListSeparator) + filepath.Dir(program), program},
		{"by its name", program, "", program},
		{"named as PATH has it", filepath.Base(program), filepath.Dir(program), program},
	} {
		b, err := render.Find(func(name string) string { return map[string]string{render.Variable: tc.named, "PATH": tc.path}[name] })
		if err != nil || b.Program != tc.want {
			t.Errorf("%s: %v, %v", tc.why, b, err)
		}
	}
	named := func(name string) string {
		return map[string]string{render.Variable: "none", "PATH": filepath.Dir(program)}[name]
	}
	if _, err := render.Find(named); failure.Of(err) != failure.World || errors.Is(err, render.ErrNone) {
		t.Errorf("named, and not there: %v", err)
	}
	if _, err := render.Find(func(string) string { return "" }); !errors.Is(err, render.ErrNone) {
		t.Errorf("nowhere: %v", err)
	}
}
