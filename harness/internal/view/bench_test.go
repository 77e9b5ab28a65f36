package view_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/retake-harness/retake/harness/report"
)

// large is a report of so many scenarios with five trials each, written as a run
// would.
func large(b *testing.B, scenarios int) string {
	b.Helper()
	var entries []report.Entry
	var texts []string
	for n := range scenarios {
		name := fmt.Sprintf("folder-%02d/scenario-%05d", n%40, n)
		for trial := 1; trial <= 5; trial++ {
			verdict := "pass"
			if (n*7+trial)%23 == 0 {
				verdict = "fail"
			}
			e := entry(name, "claude-opus-4-8", verdict)
			e.Trial, e.Figures.Latency, e.Figures.Tokens.Total = trial, int64(n*1000+trial), int64(1000+n%700)
			entries = append(entries, e)
			texts = append(texts, talk(name, "claude-opus-4-8", fmt.Sprintf("Yes, by %d and %d.", n, trial)))
		}
	}
	return put(b, b.TempDir(), "20261101-080000-00000001", entries, texts...)
}

// BenchmarkDraw draws a report of 50,000 entries.
func BenchmarkDraw(b *testing.B) {
	folder := large(b, 10_000)
	for b.Loop() {
		n, err := built(b, folder).WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/1e6, "MB")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-memory")
}

// BenchmarkOpen opens the page of 50,000 entries in Chromium, goes to its run,
// scrolls through it, searches it, and opens the last scenario.
func BenchmarkOpen(b *testing.B) {
	folder := large(b, 10_000)
	name := filepath.Join(b.TempDir(), "view.html")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if _, err := built(b, folder).WriteTo(w); err != nil {
		b.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	_ = f.Close()
	c := open(b)
	c.screen(1440, 900, "light")
	for b.Loop() {
		c.visit("file://" + filepath.ToSlash(name))
		var shown, run, worst, mean, search, last float64
		c.eval(`performance.getEntriesByName("retake:shown")[0].startTime`, &shown)
		c.eval(`(async () => { const t = performance.now(); location.hash = "#/run/20261101-080000-00000001?view=list"; while (!document.querySelector(".grid-row")) await new Promise(requestAnimationFrame); return performance.now() - t; })()`, &run)
		c.eval(`(async () => { const g = document.querySelector(".grid"); let worst = 0, t = performance.now(); for (let i = 0; i < 60; i++) { g.scrollTop += 16000; await new Promise(requestAnimationFrame); const n = performance.now(); worst = Math.max(worst, n - t); t = n; } return worst; })()`, &worst)
		c.eval(`(async () => { const g = document.querySelector(".grid"); const t = performance.now(); for (let i = 0; i < 60; i++) { g.scrollTop -= 900; await new Promise(requestAnimationFrame); } return (performance.now() - t) / 60; })()`, &mean)
		c.eval(`(async () => { const t = performance.now(); const s = document.getElementById("search"); s.value = "scenario-09999"; s.dispatchEvent(new Event("input")); while (document.querySelector(".grid").getAttribute("aria-rowcount") !== "6") await new Promise(requestAnimationFrame); return performance.now() - t; })()`, &search)
		c.eval(`(async () => { const t = performance.now(); location.hash = document.querySelectorAll(".grid-row .c-name a")[4].getAttribute("href"); while (!document.querySelector(".talk")) await new Promise(requestAnimationFrame); return performance.now() - t; })()`, &last)
		for unit, v := range map[string]float64{"ms-shown": shown, "ms-run": run, "ms-worst-frame": worst, "ms-frame": mean, "ms-search": search, "ms-scenario": last} {
			b.ReportMetric(v, unit)
		}
	}
	c.calm()
}
