package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/internal/world"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

// slowToServe tells its address to whoever listens at CONTROL, and serves when it is
// told to; else it ends, as a program does that finds its port taken.
func slowToServe() {
	conn, err := net.Dial("tcp", os.Getenv("CONTROL"))
	if err != nil {
		os.Exit(5)
	}
	_, _ = fmt.Fprintln(conn, os.Getenv("ADDRESS"))
	told, _ := io.ReadAll(conn)
	if string(told) != "serve" {
		os.Exit(4)
	}
	webShop()
}

// mute says that it is there, and answers nothing.
func mute() {
	fmt.Fprintln(os.Stderr, "here")
	select {}
}

func listen(t *testing.T, at string) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// Who listens at the address before the program is started is not the program.
func TestStrangerAtTheAddress(t *testing.T) {
	host := listen(t, "127.0.0.1:0").Addr().String()
	for _, tc := range []struct{ why, program string }{
		{"a program that ends", "fails"},
		{"one that would serve there", "web-shop"},
	} {
		s, err := world.StartServer(t.Context(), scenario.Server{
			Name: "shop", Command: []string{processtest.Self(t)}, URL: "http://" + host + "/mcp",
			Env: settings(append(processtest.Env(tc.program), "DB=${scratch}/db", "ADDRESS="+host)...),
		}, options(), world.Start{Scratch: t.TempDir()})
		if err == nil {
			s.Close()
		}
		if want := "somebody else listens at " + host + " already; end it, or use ${port}"; failure.Of(err) != failure.World || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, err, want)
		}
	}
}

// Somebody who takes the port between the look and the program's own try is not
// the program either, and another port is tried.
func TestStrangerWhoIsQuicker(t *testing.T) {
	control := listen(t, "127.0.0.1:0")
	addresses := make(chan string, 2)
	go func() {
		for first := true; ; first = false {
			conn, err := control.Accept()
			if err != nil {
				return
			}
			var address string
			_, _ = fmt.Fscanln(conn, &address)
			addresses <- address
			if first { // the program ends when somebody has taken the stranger for it
				l, err := net.Listen("tcp", address)
				if err != nil {
					t.Error(err)
				} else if c, err := l.Accept(); err == nil {
					defer func() { _, _ = c.Close(), l.Close() }()
				}
			} else {
				_, _ = io.WriteString(conn, "serve")
			}
			_ = conn.Close()
		}
	}()
	s, err := world.StartServer(t.Context(), scenario.Server{
		Name: "shop", Command: []string{processtest.Self(t)}, URL: "http://127.0.0.1:${port}/mcp",
		Env: settings(append(processtest.Env("slow-to-serve"), "CONTROL="+control.Addr().String(), "DB=${scratch}/db", "ADDRESS=127.0.0.1:${port}")...),
	}, options(), world.Start{Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	taken := <-addresses
	if strings.Contains(s.Address(), taken) {
		// A loaded machine may not have ended the program in the moment that it is
		// watched; then nobody may talk to the stranger afterwards.
		processtest.Gone(t, s.Pid())
		if _, err := s.Session(nil); err == nil || errors.Is(err, mcptool.ErrUnauthorized) {
			t.Errorf("the stranger at %s is taken for the program: %v", taken, err)
		}
		return
	}
	if _, err := s.Session(nil); !errors.Is(err, mcptool.ErrUnauthorized) {
		t.Errorf("the program's own address does not answer as it does: %v", err)
	}
}

// Whoever answers when the program has ended is somebody else.
func TestNoSessionWithAProgramThatHasEnded(t *testing.T) {
	s, err := world.StartServer(t.Context(), scenario.Server{
		Name: "shop", Command: []string{processtest.Self(t)}, URL: "http://127.0.0.1:${port}/mcp",
		Env: settings(append(processtest.Env("web-shop"), "DB=${scratch}/db", "ADDRESS=127.0.0.1:${port}")...),
	}, options(), world.Start{Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := os.FindProcess(s.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	processtest.Gone(t, s.Pid())
	alice := &scenario.Principal{Name: "alice", Headers: []tool.Setting{{Name: "Authorization", Value: "Bearer tok-a"}}}
	limited, cancel := clock.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for err = nil; err == nil || !strings.Contains(err.Error(), "the program has ended: signal: killed"); { // it may not have been noticed yet
		if _, err = s.Session(alice); failure.Of(err) != failure.World || limited.Err() != nil {
			t.Fatalf("%v", err)
		}
	}
}

// A server that never answers does not hold up its end, and has no sessions then.
func TestEndWhileConnecting(t *testing.T) {
	for _, tc := range []struct {
		why string
		end func(*world.Server)
	}{{"Kill", (*world.Server).Kill}, {"Close", (*world.Server).Close}} {
		heard := make(chan string, 10)
		s, err := world.StartServer(t.Context(), scenario.Server{
			Name: "shop", Command: []string{processtest.Self(t)}, Env: settings(processtest.Env("mute")...), Timeout: time.Hour,
		}, options(), world.Start{Listen: func(line string) { heard <- line }})
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := clock.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := s.Session(nil)
			ended <- err
		}()
		<-heard
		go tc.end(s)
		select {
		case err := <-ended:
			if failure.Of(err) != failure.World {
				t.Errorf("%s: %v", tc.why, err)
			}
		case <-over.Done():
			t.Fatalf("%s waits for a session that is being made", tc.why)
		}
		tc.end(s)
		if _, err := s.Session(nil); err == nil || !strings.Contains(err.Error(), `MCP server "shop": is closed`) {
			t.Errorf("a session after %s: %v", tc.why, err)
		}
		if len(heard) > 0 {
			t.Errorf("a program is started after %s", tc.why)
		}
	}
}

// What is closed makes no new sessions, and gives none that it had.
func TestSessionAfterClose(t *testing.T) {
	s, err := world.StartServer(t.Context(), scenario.Server{
		Name: "shop", Command: []string{processtest.Self(t)}, Env: settings(append(processtest.Env("web-shop"), "DB=${scratch}/db")...),
	}, options(), world.Start{Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	had, err := s.Session(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	processtest.Gone(t, had.Pid())
	for _, p := range []*scenario.Principal{nil, {Name: "bob"}} {
		if _, err := s.Session(p); err == nil || !strings.Contains(err.Error(), `MCP server "shop": is closed`) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// A build that was interrupted says nothing of the program.
func TestInterruptedBuild(t *testing.T) {
	o := options()
	o.Shared = world.NewShared()
	defer o.Shared.Close()
	server := scenario.Server{Name: "shop", Build: []string{"true"}, Command: []string{"shop"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := world.StartServer(ctx, server, o, world.Start{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted one: %v", err)
	}
	s, err := world.StartServer(t.Context(), server, o, world.Start{})
	if err != nil {
		t.Fatalf("the next: %v", err)
	}
	s.Close()
}
