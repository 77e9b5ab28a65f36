package agents_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/script"
)

// scenarios are those of the agents, by name, with what they need of the machine.
var scenarios = map[string]func(testing.TB){
	"anthropic-toolrunner": func(testing.TB) {},
	"openai-chat":          func(testing.TB) {},
	"typescript-anthropic": needNode,
	"typescript-vercel":    needNode,
	"python":               needPython,
}

func needPython(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		tb.Skip("there is no python3 here, so the agent in Python is not run")
	}
}

// needNode wants Node and what the lock file names.
func needNode(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		tb.Skip("there is no node here, so the agents in TypeScript are not run")
	}
	if _, err := os.Stat(tsc); err != nil {
		tb.Skip("the agents in TypeScript have no packages, so they are not run; to get them: npm ci --prefix harness/example/agents/typescript")
	}
	if err := compile(); err != nil {
		tb.Fatal(err)
	}
}

var tsc = filepath.Join("typescript", "node_modules", ".bin", "tsc")

// compile makes JavaScript of the TypeScript, once for all tests.
var compile = sync.OnceValue(func() error {
	out, err := exec.CommandContext(context.Background(), tsc, "-p", "typescript").CombinedOutput()
	if err != nil {
		return fmt.Errorf("the agents in TypeScript do not compile: %w\n%s", err, out)
	}
	return nil
})

// conversation is what the model says, in the words of each of the four APIs.
func conversation() standin.Script {
	turn := func(t script.Turn) standin.Turn { return standin.Turn{Turn: t} }
	return standin.Script{Conversations: []standin.Conversation{{User: "umbrella", Turns: []standin.Turn{
		turn(script.Turn{
			Text: "Let me look at both.", Usage: script.Usage{Input: 612, Output: 88},
			Calls: []script.Call{
				{Name: "get_calendar_event", Args: `{"query":"planning meeting"}`},
				{Name: "get_weather", Args: `{"city":"London, UK","date":"2026-07-14"}`},
			},
		}),
		turn(script.Turn{
			Usage: script.Usage{Input: 790, Output: 41},
			Calls: []script.Call{{Name: "set_reminder", Args: `{"text":"Take an umbrella","at":"2026-07-14T14:00"}`}},
		}),
		turn(script.Turn{Text: "Yes, take an umbrella: it will rain in London. I set a reminder for 14:00.", Usage: script.Usage{Input: 861, Output: 25}}),
	}}}}
}

// toStandin takes a request to the stand-in instead of the provider, with its key.
type toStandin struct{ server *standin.Server }

func (t toStandin) RoundTrip(req *http.Request) (*http.Response, error) {
	address, err := url.Parse(t.server.URL)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = address.Scheme, address.Host, ""
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if req.Header.Get(name) != "" {
			req.Header.Set(name, t.server.Key())
		}
	}
	if req.Header.Get("Authorization") != "" {
		req.Header.Set("Authorization", "Bearer "+t.server.Key())
	}
	return http.DefaultTransport.RoundTrip(req)
}

// The agents are recorded through the gateway, from the stand-in. What is recorded
// again in the same words keeps its file.
func TestRecord(t *testing.T) {
	if !harnesstest.Updating() {
		t.Skip("the recordings are made anew with RETAKE_UPDATE=1")
	}
	server, err := standin.Start(conversation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	for name, need := range scenarios {
		t.Run(name, func(t *testing.T) {
			need(t)
			record(t, name, server)
		})
	}
}

func record(t *testing.T, name string, server *standin.Server) {
	t.Helper()
	s, err := suite.Open(suite.Dirs{Root: "."}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	sc, err := s.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	model := sc.Models[0]
	path := filepath.Join("cassettes", name, harness.FileName(model)+".yaml")
	fresh := filepath.Join(t.TempDir(), "fresh.yaml")
	r, err := cassette.Record(fresh, cassette.Recording{Next: toStandin{server}, Notes: cassette.FileNotes{Model: model}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, model, suite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Transport, p.Recording = r, true
	// The golden transcript is TestReplay's affair.
	noGolden := *sc
	noGolden.Expect.Golden = false
	p.Scenario = &noGolden
	if res := harness.Exec(t.Context(), p); res.Verdict != harness.Pass {
		t.Fatalf("%s: %s", res.Verdict, harnesstest.Explain(res))
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	recorded := open(t, fresh)
	if _, err := os.Stat(path); err == nil && cmp.Equal(said(t, open(t, path)), said(t, recorded)) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := cassette.Save(path, recorded); err != nil {
		t.Fatal(err)
	}
}

func open(tb testing.TB, path string) *cassette.File {
	tb.Helper()
	f, err := cassette.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// said is a recording without its times.
func said(tb testing.TB, f *cassette.File) string {
	tb.Helper()
	f.Notes.RecordedAt = ""
	for i := range f.Interactions {
		in := &f.Interactions[i]
		in.Response.Duration = time.Duration(0)
		if in.Notes != nil {
			in.Notes.Chunks, in.Notes.RecordedAt = nil, ""
		}
	}
	text, err := cassette.Encode(nil, f)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// The recordings replay, as the programs are.
func TestReplay(t *testing.T) {
	for name, need := range scenarios {
		t.Run(name, func(t *testing.T) {
			need(t)
			harnesstest.Run(t, harnesstest.Params{Dir: ".", Scenarios: []string{name}})
		})
	}
}
