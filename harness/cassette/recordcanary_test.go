package cassette_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/tool"
)

// TestTheCanaryIsNeverOnDisk: in 1,000 random courses of recording, with panics in
// the middle of a write, clients that go and a disk that is full, a secret that is
// everywhere is in no file; and what had ended before is still to be had.
func TestTheCanaryIsNeverOnDisk(t *testing.T) {
	courses, n := 1000, 0
	if testing.Short() {
		courses = 200
	}
	dir := t.TempDir()
	check := func(rt *rapid.T) {
		n++
		course(rt, filepath.Join(dir, strconv.Itoa(n)))
	}
	for n < courses {
		rapid.Check(t, check)
		if t.Failed() {
			return
		}
	}
}

func course(t *rapid.T, dir string) {
	path, tools := filepath.Join(dir, "m.yaml"), filepath.Join(dir, "tools.yaml")
	defer func() { _ = os.RemoveAll(dir) }()
	whole := map[string]bool{} // exchanges that have ended well, and are not refused
	for range rapid.IntRange(1, 3).Draw(t, "sessions") {
		w := &weather{t: t}
		rec, err := cassette.RecordOn(cassette.BadDisk{Fault: w.strike}, path, cassette.Recording{Next: api(w.answer), Notes: alike, Secrets: secretValues()})
		if err != nil {
			t.Fatalf("Record: %v", err)
		}
		box, err := cassette.RecordToolsOn(cassette.BadDisk{Fault: w.strike}, tools, cassette.ToolRecording{Next: tool.ExecutorFunc(w.call), Notes: alike, Secrets: secretValues()})
		if err != nil {
			t.Fatalf("RecordTools: %v", err)
		}
		for range rapid.IntRange(1, 5).Draw(t, "exchanges") {
			w.fault = rapid.SampledFrom([]string{"", "", "", "write", "sync", "truncate"}).Draw(t, "fault")
			w.panics = rapid.Bool().Draw(t, "panics")
			mark := "mark-" + strconv.Itoa(len(whole)) + "-" + strconv.Itoa(w.asked)
			if survives(func() { w.exchange(rec, box, mark) }) && w.struck == 0 && !w.tainted {
				whole[mark] = true
			}
			w.struck, w.tainted, w.fault = 0, false, ""
		}
		end := rapid.SampledFrom([]string{"finish", "close", "crash"}).Draw(t, "end")
		w.fault = rapid.SampledFrom([]string{"", "create", "write", "sync", "rename", "remove"}).Draw(t, "fault at the end")
		w.panics = rapid.Bool().Draw(t, "panics at the end")
		survives(func() {
			switch end {
			case "finish":
				_, _ = rec.Finish(), box.Finish()
			case "close":
				_, _ = rec.Close(), box.Close()
			}
		})
		w.fault = ""
		noSecretIn(t, dir, secretValues())
		survives(func() { _, _ = rec.Close(), box.Close() }) // a crash closes files, too
		w.readable(dir, whole)
		if end == "finish" {
			return
		}
	}
}

// weather makes exchanges go wrong.
type weather struct {
	t       *rapid.T
	fault   string
	panics  bool
	asked   int
	struck  int
	tainted bool // the exchange has the secret, or has not ended well
	spot    string
}

func (w *weather) strike(operation string) error {
	if operation != w.fault {
		return nil
	}
	w.struck++
	if w.panics {
		panic("the power is gone")
	}
	return syscall.ENOSPC
}

// survives tells whether f has not panicked.
func survives(f func()) (ok bool) {
	defer func() { _ = recover() }()
	f()
	return true
}

// exchange is one of the model or of a tool, with the secret at some place.
func (w *weather) exchange(rec *cassette.Recorder, box *cassette.ToolRecorder, mark string) {
	w.asked++
	w.spot = rapid.SampledFrom([]string{"", "", "header", "kept header", "URL", "request", "answer", "stream", "tool", "arguments"}).Draw(w.t, "secret in")
	w.tainted = w.spot != "" && w.spot != "header"
	if rapid.Bool().Draw(w.t, "a tool") {
		args := `{"mark":"` + mark + `"}`
		if w.spot == "arguments" {
			args = `{"mark":"` + mark + `","k":` + strconv.Quote(canary) + `}`
		}
		_, _ = box.Execute(context.Background(), tool.Call{Tool: "t", Args: []byte(args)})
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	text := `{"mark":"` + mark + `"}`
	if w.spot == "request" {
		text = `{"mark":"` + mark + `","k":` + strconv.Quote(canary) + `}`
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example.com/x", strings.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+canary)
	req.Header.Set("X-Mark", mark)
	if w.spot == "kept header" {
		req.Header.Set("User-Agent", canary)
	}
	if w.spot == "URL" {
		req.URL.RawQuery = "q=" + url.QueryEscape(canary)
	}
	resp, err := rec.RoundTrip(req)
	if err != nil {
		w.tainted = true
		return
	}
	if rapid.IntRange(0, 3).Draw(w.t, "the client") == 0 {
		w.tainted = true
		_, _ = io.ReadFull(resp.Body, make([]byte, 3))
		cancel()
		resp.Body.Close()
		return
	}
	_, _ = io.ReadAll(resp.Body)
	resp.Body.Close()
}

func (w *weather) answer(req *http.Request) (*http.Response, error) {
	text := `{"for":"` + req.Header.Get("X-Mark") + `"}`
	switch w.spot {
	case "answer":
		text = strconv.Quote("x" + canary)
	case "stream":
		return answerOf(strings.NewReader("data: "+strconv.Quote(canary[:7])+"\n\ndata: "+strconv.Quote(canary[7:])+"\n\n"), "Content-Type", "text/event-stream"), nil
	}
	return answerOf(strings.NewReader(text), "Content-Type", "application/json", "Set-Cookie", canary), nil
}

func (w *weather) call(_ context.Context, c tool.Call) (tool.Result, error) {
	if w.spot == "tool" {
		return tool.Result{Content: "x" + canary}, nil
	}
	return tool.Result{Content: string(c.Args)}, nil
}

// readable holds that what has ended well is in a cassette or in what was kept.
func (w *weather) readable(dir string, whole map[string]bool) {
	var all strings.Builder
	for _, name := range []string{"m.yaml", "tools.yaml"} {
		if f, err := cassette.Open(filepath.Join(dir, name)); err == nil {
			for i := range f.Interactions {
				all.Write(f.Interactions[i].Request.Body)
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			w.t.Fatalf("%s: %v", name, err)
		}
		partials, _ := filepath.Glob(filepath.Join(dir, name+".partial*"))
		for _, p := range partials {
			data, err := os.ReadFile(p)
			if err != nil {
				w.t.Fatal(err)
			}
			all.Write(cassette.BodiesOfPartial(data))
		}
	}
	for mark := range whole {
		if !strings.Contains(all.String(), mark+`"`) {
			w.t.Fatalf("%s is lost", mark)
		}
	}
}
