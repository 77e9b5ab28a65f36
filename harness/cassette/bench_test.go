package cassette_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	govcr "gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/retake-harness/retake/harness/cassette"
)

// words is a text of about n bytes.
func words(i, n int) string {
	return strings.Repeat(fmt.Sprintf("the weather of day %d is mild; ", i), n/30+1)[:n]
}

func modelBody(i, size int) string {
	return fmt.Sprintf(`{"model":"claude","max_tokens":1024,"messages":[{"role":"user","content":"%s"},{"role":"user","content":"%d"}]}`, words(i, size), i)
}

// stockFile writes a cassette with go-vcr.
func stockFile(b *testing.B, n, size int) string {
	b.Helper()
	c := govcr.New(filepath.Join(b.TempDir(), "bench"))
	c.MarshalFunc = yaml.Marshal
	headers := http.Header{}
	for i := range 12 {
		headers.Add(fmt.Sprintf("X-Header-%c", 'A'+i), fmt.Sprintf("value %d", i))
	}
	for i := range n {
		c.AddInteraction(&govcr.Interaction{
			Request:  govcr.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "api.anthropic.com", URL: "https://api.anthropic.com/v1/messages", Method: "POST", Body: modelBody(i, size/2), Headers: http.Header{"Content-Type": {"application/json"}}},
			Response: govcr.Response{Proto: "HTTP/2.0", ProtoMajor: 2, Body: "event: message_start\ndata: " + strings.ReplaceAll(words(i, size/2), "; ", "\n\ndata: ") + "\n\n", Headers: headers, Status: "200 OK", Code: 200, Duration: 812 * time.Millisecond},
		})
	}
	if err := c.Save(); err != nil {
		b.Fatal(err)
	}
	return c.File
}

func BenchmarkOpen(b *testing.B) {
	for _, s := range []struct {
		name    string
		n, size int
	}{{"10KB", 3, 1500}, {"5MB", 1000, 4500}} {
		path := stockFile(b, s.n, s.size)
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s.name+"/retake", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cassette.Open(path); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s.name+"/retake-from-memory", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := cassette.ReadFast(data); !ok {
					b.Fatal("not on the fast path")
				}
			}
		})
		b.Run(s.name+"/go-vcr", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := govcr.Load(strings.TrimSuffix(path, ".yaml")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenHeap reports the live heap after a collection as a multiple of
// the file's size.
func BenchmarkOpenHeap(b *testing.B) {
	path := stockFile(b, 1000, 4500)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := cassette.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(info.Size()), "×file")
		runtime.KeepAlive(f)
	}
}

// BenchmarkReplay replays a whole cassette, out of order, over and over; the
// build of the index is part of it, so one call is the whole divided by N.
func BenchmarkReplay(b *testing.B) {
	for _, spelling := range []string{"byte-equal", "equivalent"} {
		for _, n := range []int{10, 100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/N=%d", spelling, n), func(b *testing.B) { benchmarkReplay(b, n, spelling == "equivalent") })
		}
	}
}

func benchmarkReplay(b *testing.B, n int, respell bool) {
	b.Helper()
	filler := words(7, 4096)
	body := func(dst []byte, i int, first, second string) []byte {
		dst = append(append(append(dst, '{'), first...), ',')
		dst = append(append(dst, second...), `,"messages":[{"role":"user","content":"`...)
		dst = append(append(dst, filler...), `"},{"role":"assistant","content":"`...)
		return append(strconv.AppendInt(dst, int64(i), 10), `"},{"role":"user","content":"go on"}]}`...)
	}
	const model, limit = `"model":"claude"`, `"max_tokens":1024`
	f := &cassette.File{Name: "bench"}
	for i := range n {
		f.Interactions = append(f.Interactions, cassette.Interaction{
			Request:  cassette.Request{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Body: body(nil, i, model, limit)},
			Response: cassette.Response{Code: 200, Header: cassette.Header{{"Content-Type", "application/json"}}, Body: body(nil, i, model, limit)},
		})
	}
	var p *cassette.Player
	var asked []byte // made anew for each request, as an agent does
	req := request(b, "http://127.0.0.1:1/v1/messages", "")
	next := n
	b.ReportAllocs()
	for b.Loop() {
		if next == n {
			p, next = player(b, f, cassette.Options{}), 0
		}
		i := next * 7919 % n // any order will do: 7919 and n share no factor
		if respell {
			asked = body(asked[:0], i, limit, model)
		} else {
			asked = body(asked[:0], i, model, limit)
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(asked)), int64(len(asked))
		resp, err := p.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		next++
	}
}
