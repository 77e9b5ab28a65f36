package view_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/report"
	"github.com/retake-harness/retake/harness/transcript"
)

// drawnFile draws the page of reports and returns its address.
func drawnFile(tb testing.TB, paths ...string) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "view.html")
	f, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if _, err := built(tb, paths...).WriteTo(w); err != nil {
		tb.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return "file://" + filepath.ToSlash(name)
}

// The committed page is what its source builds to.
func TestPageIsWhatTheSourceBuilds(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	if _, err := os.Stat("web/node_modules/esbuild"); err != nil {
		t.Skip("the source's libraries are not here; get them: npm ci --prefix harness/internal/view/web")
	}
	out := filepath.Join(t.TempDir(), "page.html")
	for _, args := range [][]string{{"web/node_modules/typescript/bin/tsc", "--project", "web"}, {"web/build.mjs", out}} {
		run, err := process.Run(t.Context(), process.Command{Args: append([]string{node}, args...), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}, nil, 1<<20)
		if err != nil || run.Code != 0 {
			t.Fatalf("%q: %v, code %d\n%s%s", args, err, run.Code, run.Stdout, run.Stderr)
		}
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("page.html is not what web builds to; build it: npm run build --prefix harness/internal/view/web")
	}
}

// One browser is enough, and starting one takes a second.
func TestInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser is started, and looks at each screen four times")
	}
	c := open(t)
	for _, tc := range []struct {
		name string
		test func(*testing.T, *chromium)
	}{{"hostile text", testHostileText}, {"conversation", testConversation}, {"reload", testReload}, {"tab", testTab}, {"keyboard", testKeyboard}, {"screens", testScreens}} {
		t.Run(tc.name, func(t *testing.T) {
			c.tb = t
			c.screen(1440, 900, "light")
			tc.test(t, c)
			c.calm()
		})
	}
	c.tb = t
}

const second = "20261102-080000-00000002"

// screens are places in the page of site.
func screens() []struct{ name, hash, heading string } {
	return []struct{ name, hash, heading string }{
		{"overview", "#/", "Reports"},
		{"list", "#/run/" + second + "?view=list", "Run of"},
		{"matrix", "#/run/" + second + "?view=matrix", "Run of"},
		{"nothing-fits", "#/run/" + second + "?q=nosuch", "Run of"},
		{"scenario", "#/run/" + second + "/scenario/travel%2Ftimeout/claude-opus-4-8", "travel/timeout"},
		{"diff", "#/diff/20261101-080000-00000001/" + second, "What changed"},
		{"sides", "#/diff/20261101-080000-00000001/" + second + "/one?name=travel%2Ftimeout", "travel/timeout"},
		{"sweep", "#/sweep/0?cell=1,1", "Sweep of travel/umbrella"},
		{"drill", "#/drill/1", "Drill shop/order"},
		{"nowhere", "#/run/none", "Nothing is here"},
	}
}

// Each screen is as wide as a telephone or a desktop, in both themes, and axe finds
// nothing serious. The pictures are artefacts of the test.
func testScreens(t *testing.T, c *chromium) {
	t.Helper()
	axe, err := os.ReadFile("web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Log("axe-core is not here, so accessibility is not checked; get it: npm ci --prefix harness/internal/view/web")
	}
	dir, pictures := t.ArtifactDir(), flag.Lookup("test.artifacts").Value.String() == "true"
	url := drawnFile(t, site(t))
	for _, width := range []int{390, 1440} {
		for _, theme := range []string{"light", "dark"} {
			c.screen(width, map[int]int{390: 844, 1440: 900}[width], theme)
			c.visit(url)
			if axe != nil {
				c.eval(string(axe), nil)
			}
			for _, s := range screens() {
				c.at(s.hash, s.heading)
				if pictures {
					c.picture(dir, fmt.Sprintf("%s-%d-%s", s.name, width, theme))
				}
				where := fmt.Sprintf("%s at %d px, %s", s.name, width, theme)
				var wide int
				if c.eval(`document.documentElement.scrollWidth - innerWidth`, &wide); wide > 0 {
					t.Errorf("%s: %d px too wide", where, wide)
				}
				if axe == nil || (width == 390) != (theme == "light") {
					continue // each size and each theme once
				}
				var found []string
				c.eval(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target + " " + (n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message ?? ""))))`, &found)
				for _, f := range found {
					t.Errorf("%s: %s", where, f)
				}
			}
		}
	}
}

// The tab key reaches everything that can be used, and shows where it is.
func testTab(t *testing.T, c *chromium) {
	t.Helper()
	c.visit(drawnFile(t, site(t)))
	for _, s := range screens() {
		c.at(s.hash, s.heading)
		c.eval(`document.body.focus(); globalThis.reached = new Set(); globalThis.unseen = []`, nil)
		for range 70 {
			c.press("Tab")
			var again bool
			c.eval(`(() => { const e = document.activeElement; const again = reached.has(e); reached.add(e); const o = getComputedStyle(e);
				if (e !== document.body && o.outlineStyle === "none" && !(e.closest(".segments label") && getComputedStyle(e.closest(".segments label")).outlineStyle !== "none")) unseen.push(e.outerHTML.slice(0, 120)); return again && e === document.body; })()`, &again)
			if again {
				break
			}
		}
		var missed, unseen []string
		c.eval(`[...document.querySelectorAll("a[href], button:not(:disabled), select, input, summary")].filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !(e.type === "radio" && !e.checked) && !reached.has(e)).map((e) => e.outerHTML.slice(0, 120))`, &missed)
		c.eval(`[...new Set(unseen)]`, &unseen)
		if len(missed)+len(unseen) > 0 {
			t.Errorf("%s: not reached: %q; reached, and not shown: %q", s.name, missed, unseen)
		}
	}
}

// Everything can be done without a mouse.
func testKeyboard(t *testing.T, c *chromium) {
	t.Helper()
	c.visit(drawnFile(t, site(t)))
	focus := `document.activeElement`
	for _, step := range []struct {
		why  string
		keys []string
		want string
	}{
		{"the newest run", []string{"n"}, `document.querySelector("h1").textContent.includes("3 Nov 2026")`},
		{"up to all reports", []string{"u"}, `document.querySelector("h1").textContent === "Reports"`},
		{"the newest run again", []string{"n"}, `document.querySelector(".filters")`},
		{"a list instead of the matrix", []string{"m"}, `location.hash.includes("view=")`},
		{"compared with the run before", []string{"d"}, `document.querySelector("h1").textContent === "What changed" && document.querySelectorAll(".grid-row").length === 2`},
		{"the first that changed", []string{"j", "Enter"}, `document.querySelector("h1").textContent === "travel/timeout" && document.querySelector(".sides .new")`},
		{"up, and to the newest run", []string{"u", "n"}, `document.querySelector(".filters .segments")`},
		{"the search", []string{"/"}, focus + `.id === "search"`},
		{"finds", []string{"u", "m", "b", "r"}, `document.querySelectorAll(".grid-row").length > 0 && [...document.querySelectorAll(".grid-row")].every((r) => r.textContent.includes("umbrella"))`},
		{"back into the list", []string{"Escape"}, focus + `.dataset.current === "true"`},
		{"down and open", []string{"ArrowDown", "End", "Home", "Enter"}, `document.querySelector(".talk")`},
		{"the title has the scenario's name", nil, `document.title.startsWith("travel/umbrella")`},
		{"all calls unfolded", []string{"e"}, `document.querySelectorAll(".call").length > 0 && [...document.querySelectorAll(".call")].every((d) => d.open)`},
		{"and folded", []string{"e"}, `[...document.querySelectorAll(".call")].every((d) => !d.open)`},
		{"the next scenario of what was found", []string{"j"}, `document.querySelector(".step a").textContent.includes("2 of 2")`},
		{"and back", []string{"k"}, `document.querySelector(".step a").textContent.includes("1 of 2")`},
		{"up to the list, with what was asked for", []string{"u"}, `document.getElementById("search").value === "umbr"`},
		{"another theme", []string{"t"}, `document.documentElement.dataset.theme === "light"`},
		{"help", []string{"?"}, `document.querySelector("dialog").open`},
		{"keys do nothing behind it", []string{"o"}, `document.querySelector("dialog").open && location.hash.includes("run")`},
		{"closed", []string{"Escape"}, `!document.querySelector("dialog").open`},
		{"all reports", []string{"o"}, `document.querySelector("h1").textContent === "Reports"`},
	} {
		c.press(step.keys...)
		var ok bool
		c.eval(`new Promise((done) => { let n = 0; const look = () => { let is = false; try { is = !!(`+step.want+`); } catch {} if (is || n++ > 300) done(is); else requestAnimationFrame(look); }; look(); })`, &ok)
		if !ok {
			var now string
			c.eval(`location.hash + " " + document.activeElement.outerHTML.slice(0, 200) + "\n" + document.querySelector("main").innerText.slice(0, 800)`, &now)
			t.Fatalf("%s: %q does not do it: %s", step.why, step.keys, now)
		}
	}
}

// Whatever a report says is shown as text, also where it hides.
func testHostileText(t *testing.T, c *chromium) {
	t.Helper()
	c.must("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `addEventListener("securitypolicyviolation", (e) => console.error("policy", e.violatedDirective, e.sourceFile, e.lineNumber));`}, nil)
	var entries []report.Entry
	var texts []string
	for _, tc := range hostile {
		entries = append(entries, hostileEntry(tc.text))
		texts = append(texts, talk("x", "m", string(transcript.AppendSafe(nil, tc.text, 10))))
	}
	dir := t.TempDir()
	put(t, dir, "r1", entries, texts...)
	put(t, dir, "r2", entries)
	c.visit(drawnFile(t, dir))
	var hrefs []string
	c.at("#/run/r1?view=list", "Run of")
	c.eval(`[...document.querySelectorAll(".grid-row .c-name a")].map((a) => a.getAttribute("href"))`, &hrefs)
	if len(hrefs) != len(hostile) {
		t.Fatalf("%d rows", len(hrefs))
	}
	for i, href := range hrefs {
		for _, hash := range []string{href, "#/diff/r1/r2/one?name=" + strings.SplitN(href, "/", 5)[4]} {
			c.eval(`location.hash = `+quoted(hash), nil)
			c.until(`document.querySelector("main h1, main .empty")`)
		}
		c.eval(`location.hash = `+quoted(href), nil)
		c.until(`document.querySelector(".talk") && document.querySelector(".reason")`)
		var got struct {
			Elements int
			Title    string
			Raw      string // an element that shows what hides as it is
		}
		c.eval(`({Elements: document.querySelectorAll("main img, main iframe, main script, main b[onclick], [onerror], main style, main a[href^=javascript]").length, Title: document.title, Raw: [...document.querySelectorAll("main *")].findLast((e) => /[\u202a-\u202e\u2066-\u2069\u200b\u0000\u001b\u2028]/.test(e.textContent + (e.title ?? "")))?.outerHTML.slice(0, 300) ?? ""})`, &got)
		if got.Elements != 0 || got.Title == "owned" || got.Raw != "" {
			t.Errorf("%s: %+v", hostile[i].why, got)
		}
	}
	c.at("#/diff/r1/r2", "What changed")
	var wide int
	if c.eval(`document.documentElement.scrollWidth - innerWidth`, &wide); wide > 0 {
		t.Errorf("%d px too wide", wide)
	}
}

// Numbers of arguments and results are shown as they are written.
func testConversation(t *testing.T, c *chromium) {
	t.Helper()
	c.visit(drawnFile(t, site(t)))
	c.at("#/run/"+second+"/scenario/travel%2Ftimeout/claude-opus-4-8", "travel/timeout")
	c.until(`document.querySelector(".talk")`)
	c.press("e")
	c.until(`document.querySelector(".call[open]")`)
	var got []string
	c.eval(`[...document.querySelectorAll(".talk > li")].map((li) => li.innerText.replace(/\s+/g, " ").trim())`, &got)
	want := []string{
		"system 46 characters Look things up before you answer; never guess.", "user Will it rain in London? I mean tomorrow.",
		`get_weather write an attempt failed 1.50 s call-1 arguments { "city": "London, UK", "days": [ 1, 2 ], "exact": 12.50 } attempt attempt-1 error tool unavailable result { "condition": "rain", "ok": true }`,
		"model 1: tool calls (tool use) 1.50 s, 490 tokens, $0.00800", "⚡fault tool.unavailable struck call 1 attempt 1", "assistant Yes, by fail.", "model 2: done (end turn) 1.20 s, 549 tokens, $0.00450", "outcome completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var ids []string
	c.eval(`[...document.querySelectorAll(".id")].map((e) => e.textContent)`, &ids)
	if diff := cmp.Diff([]string{"task-" + second + "-5", "task-" + second + "-5-a1", "task-" + second + "-5-a2", "task-" + second + "-5-a3", "task-" + second + "-5-a3"}, ids); diff != "" {
		t.Error(diff)
	}
}
