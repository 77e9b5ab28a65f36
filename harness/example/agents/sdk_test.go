package agents_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/script"
)

// counting counts the attempts of a client.
type counting struct {
	next     http.RoundTripper
	attempts atomic.Int64
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.attempts.Add(1)
	return c.next.RoundTrip(req)
}

// ask runs the client in TypeScript once, at a gateway in front of next, with what a
// program is given and nothing else.
func ask(t *testing.T, next http.RoundTripper, sdk, prompt, how string) (said string, attempts int64) {
	t.Helper()
	c := &counting{next: next}
	g, err := gateway.Start(t.Context(), gateway.Options{Next: c})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("typescript", "dist", "client.js"), sdk, prompt, how)
	cmd.Env = append(g.Variables(), "PATH="+os.Getenv("PATH"))
	out, _ := cmd.Output() // its exit code says what it prints
	return strings.TrimSpace(string(out)), c.attempts.Load()
}

// The SDKs from npm, unmodified and with their retries, recorded and replayed. A
// 529 is tried again while recording and in replay; a miss is tried once.
func TestSDKs(t *testing.T) {
	t.Parallel()
	needNode(t)
	const answer = "said: It rains."
	for _, sdk := range []string{"anthropic", "openai chat", "openai responses", "vercel openai", "vercel anthropic"} {
		for _, how := range []string{"once", "stream"} {
			t.Run(sdk+" "+how, func(t *testing.T) {
				t.Parallel()
				server, err := standin.Start(standin.Script{Conversations: []standin.Conversation{{User: "weather", Turns: []standin.Turn{{
					Turn:     script.Turn{Text: "It rains.", Usage: script.Usage{Input: 9, Output: 3}},
					Failures: []standin.Failure{{Status: 529}},
				}}}}})
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				path := filepath.Join(t.TempDir(), "any.yaml")
				r, err := cassette.Record(path, cassette.Recording{Next: toStandin{server}})
				if err != nil {
					t.Fatal(err)
				}
				if said, n := ask(t, r, sdk, "weather?", how); !strings.HasSuffix(said, answer) || n != 2 {
					t.Errorf("recorded: %q in %d attempts", said, n)
				}
				if err := r.Finish(); err != nil {
					t.Fatal(err)
				}
				server.Close()
				p, err := cassette.NewPlayer(open(t, path), cassette.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if said, n := ask(t, p, sdk, "weather?", how); !strings.HasSuffix(said, answer) || n != 2 {
					t.Errorf("replayed: %q in %d attempts", said, n)
				}
				said, n := ask(t, p, sdk, "snow?", how)
				if !strings.Contains(said, "failed: ") || !strings.Contains(said, "no recorded reply") || n != 1 {
					t.Errorf("a miss: %q in %d attempts", said, n)
				}
			})
		}
	}
}
