package view_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/view"
)

// serve serves a folder's reports until the test's end; what it gives is its address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	l, err := view.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &view.Server{Folders: []string{dir}, Patience: 20 * time.Millisecond, Draw: func(ctx context.Context) (*view.Page, error) {
		found, err := view.Find([]string{dir}, 0)
		if err != nil {
			return nil, err
		}
		return view.Build(ctx, found)
	}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it does not end well: %v", err)
		}
	})
	return "http://" + l.Addr().String() + "/"
}

func get(t *testing.T, url, host string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A page that is open learns of a new run, of one in a new folder, and of nothing
// that is no report; the next page has it.
func TestServe(t *testing.T) {
	dir := site(t)
	url := serve(t, dir)
	first := text(t, get(t, url, ""))
	if !strings.Contains(first, `data-served="0"`) {
		t.Fatalf("%.400s", first)
	}
	events := bufio.NewScanner(get(t, url+"events?seen=0", "").Body)
	next := func() string {
		for events.Scan() {
			if line, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return line
			}
		}
		t.Fatalf("no more events: %v", events.Err())
		return ""
	}
	write(t, filepath.Join(dir, "view.html"), []byte("x"))
	write(t, filepath.Join(dir, ".20261104-080000-00000004.partial", "report.json"), []byte("{"))
	made := put(t, t.TempDir(), "20261104-080000-00000004", nil)
	if err := os.RemoveAll(filepath.Join(dir, ".20261104-080000-00000004.partial")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, ".new"), os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, ".new"), filepath.Join(dir, "20261104-080000-00000004")); err != nil {
		t.Fatal(err)
	}
	version := next()
	if got := text(t, get(t, url, "")); !strings.Contains(got, `data-served="`+version+`"`) || len(got) == len(first) {
		t.Errorf("after %s: %.400s", version, got)
	}
	write(t, filepath.Join(dir, "sweep", "new", "m.json"), []byte(`{"schema":"retake.sweep/1"}`))
	if again := next(); again == version {
		t.Error("it is told once more of the same")
	}
	// One that comes late is told at once.
	late := bufio.NewReader(get(t, url+"events?seen=-1", "").Body)
	for {
		line, err := late.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "event: changed\n" {
			break
		}
	}
}

func TestServeRefuses(t *testing.T) {
	url := serve(t, site(t))
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	for _, tc := range []struct {
		why, path, host string
		want            int
	}{
		{"the page", "", "", http.StatusOK},
		{"by another name of this machine", "", "localhost:" + port, http.StatusOK},
		{"by a name that somebody made lead here", "", "evil.example:" + port, http.StatusForbidden},
		{"events, likewise", "events?seen=0", "evil.example", http.StatusForbidden},
		{"a file", "view.go", "", http.StatusNotFound},
		{"events of nothing", "events", "", http.StatusBadRequest},
	} {
		resp := get(t, url+tc.path, tc.host)
		if resp.StatusCode != tc.want {
			t.Errorf("%s: %d, want %d", tc.why, resp.StatusCode, tc.want)
		}
		if resp.Header.Get("X-Frame-Options") != "DENY" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", tc.why, resp.Header)
		}
	}
	for _, address := range []string{"0.0.0.0:0", ":8080", "8080", "[::]:0", "192.168.1.2:80", "example.com:80"} {
		if l, err := view.Listen(t.Context(), address); failure.Of(err) != failure.ScenarioInvalid {
			t.Errorf("%s: %v, %v", address, l, err)
		}
	}
}

// The page that a browser has open is drawn again by itself, and stays where it is.
func testReload(t *testing.T, c *chromium) {
	t.Helper()
	dir := site(t)
	c.visit(serve(t, dir))
	c.at("#/run/"+second+"?view=list&q=umbrella", "Run of")
	put(t, dir, "20261105-080000-00000005", nil)
	c.until(`document.documentElement.dataset.served !== "0" && document.documentElement.dataset.ready !== undefined`)
	c.until(`document.getElementById("search").value === "umbrella"`)
	c.at("#/", "Reports")
	c.until(`document.querySelector(".lead").textContent.startsWith("4 runs")`)
	c.must("Page.navigate", map[string]any{"url": "about:blank"}, nil) // before its server ends
}
