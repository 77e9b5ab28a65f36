package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){
		"echo":  func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"code3": func() { fmt.Fprint(os.Stderr, "out of paper"); os.Exit(3) },
		"flood": func() {
			for {
				if _, err := os.Stdout.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		},
		"noise": func() {
			fmt.Fprint(os.Stderr, strings.Repeat("x", 100_000)+"the end")
		},
		"hang": hang,
		"deaf": func() { signal.Ignore(syscall.SIGTERM); hang() },
		// It starts a child that would outlive it, tells its number, and waits or ends.
		"parent":  func() { child(); hang() },
		"deserts": child,
		"talks": func() {
			in := bufio.NewScanner(os.Stdin)
			for in.Scan() {
				fmt.Println("heard", in.Text())
			}
		},
	})
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func child() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processtest.Env("hang")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // it holds the pipes
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(os.Getpid())
}

func program(tb testing.TB, name string) process.Command {
	tb.Helper()
	return process.Command{Args: []string{processtest.Self(tb)}, Env: processtest.Env(name)}
}

func TestRun(t *testing.T) {
	out, err := process.Run(t.Context(), program(t, "echo"), []byte("hello"), 100)
	if err != nil || string(out.Stdout) != "hello" || out.Code != 0 {
		t.Errorf("got %q, code %d, %v", out.Stdout, out.Code, err)
	}
	out, err = process.Run(t.Context(), program(t, "code3"), make([]byte, 1<<20), 100)
	if err != nil || out.Code != 3 || out.Stderr != "out of paper" {
		t.Errorf("an exit code is no error, nor that nobody read the input: code %d, %q, %v", out.Code, out.Stderr, err)
	}
}

func TestRunBoundsWhatIsWritten(t *testing.T) {
	out, err := process.Run(t.Context(), program(t, "flood"), nil, 10_000)
	if !errors.Is(err, process.ErrTooMuch) || len(out.Stdout) != 10_000 {
		t.Errorf("got %d bytes, %v", len(out.Stdout), err)
	}
	c := program(t, "noise")
	c.KeepStderr = 1000
	out, err = process.Run(t.Context(), c, nil, 10)
	if err != nil || len(out.Stderr) > 1100 || !strings.HasSuffix(out.Stderr, "the end") || !strings.HasPrefix(out.Stderr, "[99007 bytes before]") {
		t.Errorf("got %q, %v", out.Stderr, err)
	}
}

func TestRunThatCannotStart(t *testing.T) {
	_, err := process.Run(t.Context(), process.Command{Args: []string{"retake-no-such-program"}}, nil, 10)
	if failure.Of(err) != failure.World || !strings.Contains(err.Error(), `"retake-no-such-program" cannot be started`) {
		t.Errorf("got %v", err)
	}
	_, err = process.Run(t.Context(), process.Command{}, nil, 10)
	if failure.Of(err) != failure.ScenarioInvalid {
		t.Errorf("got %v", err)
	}
}

// A child that holds the pipes keeps nobody waiting, and does not outlive the
// program, however that ends.
func TestRunLeavesNothingBehind(t *testing.T) {
	out, err := process.Run(t.Context(), program(t, "deserts"), nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	processtest.Gone(t, number(t, string(out.Stdout)))

	for limit := time.Second; ; limit *= 2 { // a loaded machine may need more until the child is there
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		out, err = process.Run(ctx, program(t, "parent"), nil, 100)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if len(out.Stdout) > 0 || limit > time.Minute {
			break
		}
	}
	processtest.Gone(t, number(t, string(out.Stdout)))
}

func number(tb testing.TB, text string) int {
	tb.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		tb.Fatalf("no process number: %q", text)
	}
	return n
}

func TestStart(t *testing.T) {
	p, err := process.Start(t.Context(), program(t, "talks"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "me\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil || line != "heard me\n" || p.How() != "" {
		t.Errorf("got %q, %v", line, err)
	}
	p.Close(5 * time.Second)
	if p.How() != "exit status 0" {
		t.Errorf("a program that ends with its input ended by %s", p.How())
	}
	p.Close(0)
	processtest.Gone(t, p.Pid())
}

func TestCloseEnds(t *testing.T) {
	for name, why := range map[string]string{
		"hang":   "a program that does not read its input is asked to end",
		"deaf":   "one that does not listen is killed",
		"parent": "its children go with it",
	} {
		p, err := process.Start(t.Context(), program(t, name))
		if err != nil {
			t.Fatal(err)
		}
		p.Close(100 * time.Millisecond)
		if p.How() == "" || p.How() == "exit status 0" {
			t.Errorf("%s: %s", why, p.How())
		}
		processtest.Gone(t, p.Pid())
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := process.Start(ctx, program(t, "parent"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if len(processtest.Group(t, p.Pid())) != 2 {
		t.Error("the child is not in the program's group")
	}
	cancel()
	<-p.Done()
	processtest.Gone(t, p.Pid())
	p.Close(time.Second)
}
