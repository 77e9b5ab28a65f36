package cli_test

import (
	"context"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-harness/retake/harness/internal/standin"
	"github.com/retake-harness/retake/harness/script"
)

// hangs tell when the newest stand-in of a script hangs.
var hangs sync.Map // *testscript.TestScript → chan struct{}

// hangup interrupts a command when the stand-in hangs.
func hangup(ts *testscript.TestScript, _ bool, args []string) {
	hung, _ := hangs.Load(ts)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-hung.(chan struct{}):
			cancel()
		case <-ctx.Done():
		}
	}()
	runIn(ctx, ts, "", ts.Stdout(), args)
}

// spoken is what a script of the stand-in says, as a file.
type spoken struct {
	User  string      `json:"user"`
	Turns []spokenOne `json:"turns"`
}

type spokenOne struct {
	Text   string               `json:"text"`
	Calls  []spokenCall         `json:"calls"`
	Models map[string]spokenOne `json:"models"`
	Usage  [2]int64             `json:"usage"`  // input, output
	Fails  []int                `json:"fails"`  // statuses that come before
	Hangs  int                  `json:"hangs"`  // after so many events
	Always bool                 `json:"always"` // it fails all along
}

type spokenCall struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// startStandin serves a script, and tells the address and the key in the
// environment: standin FILE. A second one takes the place of the first.
func startStandin(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	var said []spoken
	ts.Check(json.Unmarshal(text, &said))
	s := standin.Script{Header: http.Header{"Set-Cookie": {"session=canary-cookie"}}}
	for _, c := range said {
		out := standin.Conversation{User: c.User}
		for i := range c.Turns {
			out.Turns = append(out.Turns, c.Turns[i].turn())
		}
		s.Conversations = append(s.Conversations, out)
	}
	hung := make(chan struct{}, 1)
	s.Hung = func() { hung <- struct{}{} }
	server, err := standin.Start(s)
	ts.Check(err)
	ts.Defer(server.Close)
	hangs.Store(ts, hung)
	ts.Setenv("STANDIN", server.URL)
	ts.Setenv("STANDIN_KEY", server.Key())
}

func (o *spokenOne) said() script.Turn {
	t := script.Turn{Text: o.Text, Usage: script.Usage{Input: o.Usage[0], Output: o.Usage[1]}}
	for _, c := range o.Calls {
		t.Calls = append(t.Calls, script.Call{Name: c.Name, Args: c.Args})
	}
	return t
}

func (o *spokenOne) turn() standin.Turn {
	t := standin.Turn{Turn: o.said(), Models: map[string]script.Turn{}}
	for name, other := range o.Models {
		t.Models[name] = other.said()
	}
	for _, status := range o.Fails {
		f := standin.Failure{Status: status}
		if status == http.StatusTooManyRequests {
			f.RetryAfter = time.Second
		}
		t.Failures = append(t.Failures, f)
	}
	for o.Always && len(t.Failures) < 100 {
		t.Failures = append(t.Failures, t.Failures[len(t.Failures)-1])
	}
	if o.Hangs > 0 {
		t.Break = standin.Break{How: standin.EndsHang, After: o.Hangs}
	}
	return t
}

// point writes the stand-in's address into a configuration: point FILE. It stands
// there as STANDIN.
func point(ts *testscript.TestScript, _ bool, args []string) {
	edit(ts, false, []string{args[0], "STANDIN", ts.Getenv("STANDIN")})
}
