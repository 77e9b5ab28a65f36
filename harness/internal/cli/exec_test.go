package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-harness/retake/harness/internal/cli"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// asks is an agent in a few lines: it asks the model once, and prints the answer. It
// exits with what is in CODE.
func asks() {
	status, text := askModel(os.Getenv("ANTHROPIC_BASE_URL"), os.Args[len(os.Args)-1])
	fmt.Println("status", status, text)
	fmt.Println("key", os.Getenv("ANTHROPIC_API_KEY"), "secret", os.Getenv("MODEL_KEY"))
	fmt.Println("another key", os.Getenv("OPENROUTER_API_KEY"), "direct", os.Getenv("NO_PROXY"))
	if os.Getenv("CODE") != "" {
		fmt.Fprintln(os.Stderr, "out of ideas")
		os.Exit(3)
	}
}

func askModel(base, task string) (status int, text string) {
	body := fmt.Sprintf(`{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":%q}]}`, task)
	resp, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return resp.StatusCode, string(said)
}

// asker is a client of `retake gateway`: it asks where the printed variables say,
// and interrupts the command then.
type asker struct {
	ts   *testscript.TestScript
	task string
	end  context.CancelFunc
	seen bytes.Buffer
}

func (a *asker) Write(p []byte) (int, error) {
	a.seen.Write(p)
	_, last, ready := strings.Cut(string(p), "export no_proxy=")
	if ready && last != "" {
		_, base, _ := strings.Cut(a.seen.String(), "export ANTHROPIC_BASE_URL=")
		base, _, _ = strings.Cut(base, "\n")
		status, text := askModel(base, a.task)
		_, _ = fmt.Fprintln(a.ts.Stdout(), "the client got", status, text)
		a.end()
	}
	return a.ts.Stdout().Write(p)
}

// client runs a command that serves, asks it for TASK, and interrupts it then:
// client CODE TASK ARG….
func client(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runIn(ctx, ts, "", &asker{ts: ts, task: args[1], end: cancel}, append(args[:1:1], args[2:]...))
}

// What a program inherits is this process's own environment, not the script's.
func TestExecInherits(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/project")); err != nil {
		t.Fatal(err)
	}
	self := processtest.Self(t)
	t.Chdir(dir)
	t.Setenv("OPENROUTER_API_KEY", "sk-or-canary")
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
	t.Setenv("MODEL_KEY", "sk-declared-canary")
	t.Setenv("NO_PROXY", ".corp")
	var out bytes.Buffer
	code := cli.Main([]string{"exec", "--scenario", "hello", "--no-report", "--", "env", processtest.Env("asks")[0], self}, cli.IO{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Getenv: os.Getenv, Context: t.Context(),
	})
	if code != 0 || strings.Contains(out.String(), "canary") {
		t.Errorf("exit code %s:\n%s", strconv.Itoa(code), out.String())
	}
	if want := "another key  direct .corp,127.0.0.1,localhost,::1\n"; !strings.Contains(out.String(), want) {
		t.Errorf("want %q in:\n%s", want, out.String())
	}
}
