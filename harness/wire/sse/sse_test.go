package sse_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-harness/retake/harness/wire/sse"
)

type event struct {
	Name, Data   string
	Unterminated bool
}

func scan(body string) []event {
	var out []event
	s := sse.NewScanner([]byte(body))
	for e, ok := s.Next(); ok; e, ok = s.Next() {
		out = append(out, event{string(e.Name), string(e.Data), e.Unterminated})
	}
	return out
}

func TestScanner(t *testing.T) {
	tests := []struct {
		why, body string
		want      []event
	}{
		{"an empty body has no events", "", nil},
		{"named events", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []event{{"a", "1", false}, {"b", "2", false}}},
		{"a name is not carried over", "event: a\ndata: 1\n\ndata: 2\n\n", []event{{"a", "1", false}, {"", "2", false}}},
		{"CRLF ends lines", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []event{{"a", "1", false}, {"", "2", false}}},
		{"CR ends lines", "data: 1\r\rdata: 2\r\r", []event{{"", "1", false}, {"", "2", false}}},
		{"line ends may be mixed", "data: 1\r\ndata: 2\rdata: 3\n\n", []event{{"", "1\n2\n3", false}}},
		{"data lines are joined", "data: a\ndata: b\ndata\ndata: c\n\n", []event{{"", "a\nb\n\nc", false}}},
		{"the space after the colon is optional, and one only", "data:a\n\ndata:  b\n\n", []event{{"", "a", false}, {"", " b", false}}},
		{"comments and other fields are skipped", ": ping\nid: 7\nretry: 1\ndata: a\n:\n\n", []event{{"", "a", false}}},
		{"an event without data is none", "event: a\n\ndata: b\n\n", []event{{"", "b", false}}},
		{"empty data is data", "data:\n\n", []event{{"", "", false}}},
		{"a byte order mark is skipped", "\xef\xbb\xbfdata: a\n\n", []event{{"", "a", false}}},
		{"the last event may lack its blank line", "data: a\n\ndata: b\n", []event{{"", "a", false}, {"", "b", true}}},
		{"the last line may be cut", "data: a\n\ndata: {\"b\"", []event{{"", "a", false}, {"", "{\"b\"", true}}},
		{"CRLF cut between its bytes", "data: a\r\n\r", []event{{"", "a", false}}},
		{"blank lines in a row are one end", "data: a\n\n\n\ndata: b\n\n", []event{{"", "a", false}, {"", "b", false}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, scan(tt.body)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", tt.why, tt.body, diff)
		}
	}
}

func TestJoiningLeavesTheBodyAlone(t *testing.T) {
	body := []byte("data: a\ndata: b\n\ndata: c\n\n")
	before := bytes.Clone(body)
	s := sse.NewScanner(body)
	for _, ok := s.Next(); ok; _, ok = s.Next() {
	}
	if !bytes.Equal(body, before) {
		t.Errorf("the scanner changed the body to %q", body)
	}
}

func TestAppendedEventsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"", "message_start", "ping"})
		var body []byte
		var want []event
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			e := event{Name: names.Draw(t, "name"), Data: rapid.StringMatching(`[a-z{}: ]{0,9}(\n[a-z{}: ]{0,9}){0,3}`).Draw(t, "data")}
			body = sse.Append(body, e.Name, []byte(e.Data))
			want = append(want, e)
		}
		for _, end := range []string{"\n", "\r\n", "\r"} {
			if diff := cmp.Diff(want, scan(strings.ReplaceAll(string(body), "\n", end))); diff != "" {
				t.Fatalf("lines ended by %q (-want +got):\n%s", end, diff)
			}
		}
	})
}

func TestIs(t *testing.T) {
	tests := []struct {
		why, contentType, body string
		want                   bool
	}{
		{"the header says so", "text/event-stream; charset=utf-8", "", true},
		{"in any case", "Text/Event-Stream", "", true},
		{"a recording without headers", "", "data: {}\n\n", true},
		{"named events", "application/json", "event: a\n", true},
		{"a comment first", "", ": OPENROUTER PROCESSING\n\n", true},
		{"JSON", "application/json", `{"data": 1}`, false},
		{"nothing", "", "", false},
	}
	for _, tt := range tests {
		if got := sse.Is(tt.contentType, []byte(tt.body)); got != tt.want {
			t.Errorf("%s: Is(%q, %q) = %v", tt.why, tt.contentType, tt.body, got)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\r\n\r\ndata: x"))
	f.Add([]byte("\xef\xbb\xbf: c\rdata\r\r"))
	f.Fuzz(func(t *testing.T, body []byte) {
		first := scan(string(body))
		var again []byte
		for i := range first {
			first[i].Unterminated = false
			again = sse.Append(again, first[i].Name, []byte(first[i].Data))
		}
		if diff := cmp.Diff(first, scan(string(again))); diff != "" {
			t.Errorf("what was written reads differently (-first +again):\n%s", diff)
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	body := []byte(strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0}\n\n", 40))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		s := sse.NewScanner(body)
		for _, ok := s.Next(); ok; _, ok = s.Next() {
		}
	}
}
