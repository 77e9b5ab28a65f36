package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	osexec "os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/gateway"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/script"
)

// held are the goroutines and the files that this process has. The system may not
// tell the files.
func held() (goroutines, files int) {
	names, _ := os.ReadDir("/proc/self/fd")
	return runtime.NumGoroutine(), len(names)
}

// sameAsBefore fails t when there is more than before after a while: a connection
// ends a moment after its server.
func sameAsBefore(t *testing.T, goroutines, files int) {
	t.Helper()
	var g, f int
	for range 1000 {
		if g, f = held(); g <= goroutines && f <= files {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before; %d files, %d before\n%s", g, goroutines, f, files, stacks[:runtime.Stack(stacks, true)])
}

// serveOnce is a run's gateway, whose clients ask it at the same time in every way
// to leave: to the end, with the connection kept; in the middle of a stream; before
// an answer.
func serveOnce(ctx context.Context) error {
	waits := make(chan struct{}, 1)
	s, err := gateway.Start(ctx, gateway.Options{Next: roundTrip(func(req *http.Request) (*http.Response, error) {
		switch req.URL.Path {
		case "/v1/waits":
			waits <- struct{}{}
			<-req.Context().Done()
			return nil, req.Context().Err()
		case "/v1/floods":
			return respond(req, 200, nil, endless{}, -1), nil
		}
		return echo(req)
	})})
	if err != nil {
		return err
	}
	tr := &http.Transport{}
	resp, err := (&http.Client{Transport: tr}).Post(s.URL()+"/v1/messages", "", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	u, _ := url.Parse(s.URL())
	for _, path := range []string{"floods", "waits"} {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(conn, "POST /anthropic/v1/%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}", path, u.Host)
		if err == nil && path == "floods" {
			_, err = io.ReadFull(conn, make([]byte, 1<<10))
		} else if err == nil {
			<-waits
		}
		conn.Close()
		if err != nil {
			return err
		}
	}
	s.Close() // while what the two have left goes on
	tr.CloseIdleConnections()
	return nil
}

// Nothing is left of 200 runs' servers, whatever their clients did.
func TestServersLeaveNothing(t *testing.T) {
	if err := serveOnce(t.Context()); err != nil { // makes what is made once
		t.Fatal(err)
	}
	goroutines, files := held()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				if err := serveOnce(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sameAsBefore(t, goroutines, files)
}

// Nor of programs.
func TestProgramsLeaveNothing(t *testing.T) {
	s := open(t, "asks", "")
	once := func() {
		if r := exec(t, s, suite.Options{}, script.Turn{Text: "Hello."}); r.Verdict != harness.Pass {
			t.Fatalf("%+v", r.Failures)
		}
	}
	once()
	goroutines, files := held()
	for range 20 {
		once()
	}
	sameAsBefore(t, goroutines, files)
}

// grandchild starts a program that would outlive this one and holds its pipes, and
// tells their group.
func grandchild() {
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processtest.Env("deaf")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	check(cmd.Start())
	fmt.Println(os.Getpid())
}

// deaf does not listen to signals that can be ignored.
func deaf() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	for {
		time.Sleep(time.Hour)
	}
}

// firstLine calls then at the end of the first line.
type firstLine struct {
	text strings.Builder
	then func()
}

func (w *firstLine) Write(p []byte) (int, error) {
	w.text.Write(p)
	if strings.Contains(string(p), "\n") {
		w.then()
	}
	return len(p), nil
}

func (w *firstLine) group(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(w.text.String()))
	if err != nil {
		t.Fatalf("no process number: %v", err)
	}
	return n
}

// A program that has left another behind has ended all the same, and the other goes
// with it.
func TestProgramLeavesAnother(t *testing.T) {
	out := &firstLine{then: func() {}}
	r := exec(t, open(t, "deserts", "|answer: {equals: Hello.}"), suite.Options{Stdout: out}, script.Turn{Text: "Hello."})
	if r.Verdict != harness.Pass {
		t.Errorf("%+v", r.Failures)
	}
	processtest.Gone(t, out.group(t))
}

// An interruption ends a program that does not listen, and what it has started.
func TestDeafProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &firstLine{then: cancel}
	r := execIn(ctx, t, open(t, "ignores", ""), suite.Options{Stdout: out}, script.Turn{Text: "Hello."})
	if r.Verdict != harness.NotRun || len(r.Failures) != 1 || r.Failures[0].Class != failure.Interrupted {
		t.Errorf("%s %+v", r.Verdict, r.Failures)
	}
	processtest.Gone(t, out.group(t))
}
