package cli_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-harness/retake/harness/internal/cli"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

// The scripts in testdata drive the command in this process, each in a copy of
// testdata/project:
//
//	retake CODE ARG…       run the command and want the exit code
//	client CODE TASK ARG…  run the command, ask it for TASK as a gateway, and interrupt it
//	interrupt N CODE ARG…  the same, and interrupt it at the N-th line that it prints
//	                       (-1: before it begins)
//	feed FILE CODE ARG…    run the command with the file as its standard input
//	many N                 make N more scenarios like hello
//	$SELF                  the test's own binary, which plays servers
//	standin FILE           serve the live APIs by a script; $STANDIN_KEY is the key
//	hangup CODE ARG…       run the command, and interrupt it when the stand-in hangs
//	point FILE             put the stand-in's address where the file says STANDIN
//	edit FILE OLD NEW      replace OLD, which has to be there; \r and \n are understood
//
// RETAKE_UPDATE_SCRIPTS=1 writes what they compare with anew.
func TestScripts(t *testing.T) {
	dir, err := filepath.Abs("testdata") // the commands change the working directory
	if err != nil {
		t.Fatal(err)
	}
	self := processtest.Self(t)
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: os.Getenv("RETAKE_UPDATE_SCRIPTS") == "1",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SELF", self)
			return os.CopyFS(env.WorkDir, os.DirFS(filepath.Join(dir, "project")))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"retake": func(ts *testscript.TestScript, _ bool, args []string) { runRetake(ts, "", 0, args) },
			"feed": func(ts *testscript.TestScript, _ bool, args []string) {
				runRetake(ts, ts.ReadFile(args[0]), 0, args[1:])
			},
			"interrupt": interrupt,
			"client":    client,
			"many":      many,
			"edit":      edit,
			"standin":   startStandin,
			"point":     point,
			"hangup":    hangup,
		},
	})
}

// oneAtATime guards the working directory, which the process has only one of.
var oneAtATime sync.Mutex

func runRetake(ts *testscript.TestScript, stdin string, interruptAt int, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if interruptAt < 0 {
		cancel()
	}
	runIn(ctx, ts, stdin, &counter{ts: ts, left: interruptAt, reached: cancel}, args)
}

func runIn(ctx context.Context, ts *testscript.TestScript, stdin string, out io.Writer, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	back, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(back)) }()
	code := cli.Main(args[1:], cli.IO{
		Stdin: strings.NewReader(stdin), Stdout: out, Stderr: ts.Stderr(), Getenv: ts.Getenv, Context: ctx,
	})
	if code != want {
		ts.Fatalf("retake %s: exit code %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}

// counter passes on what is printed and interrupts the command at a line of it.
type counter struct {
	ts      *testscript.TestScript
	left    int // lines until then; less than 1 is never
	reached context.CancelFunc
}

func (c *counter) Write(p []byte) (int, error) {
	for range strings.Count(string(p), "\n") {
		if c.left--; c.left == 0 {
			c.reached()
		}
	}
	return c.ts.Stdout().Write(p)
}

func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	runRetake(ts, "", n, args[1:])
}

func many(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i := range n {
		name := fmt.Sprintf("again-%03d", i)
		for _, file := range []string{"scenarios/%s.yaml", "cassettes/%s/m-1.yaml", "golden/%s/m-1.golden"} {
			text, err := os.ReadFile(ts.MkAbs(fmt.Sprintf(file, "hello")))
			ts.Check(err)
			path := ts.MkAbs(fmt.Sprintf(file, name))
			ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
			text = []byte(strings.Replace(string(text), "scenario  hello", "scenario  "+name, 1))
			ts.Check(os.WriteFile(path, text, 0o644))
		}
	}
}

func edit(ts *testscript.TestScript, _ bool, args []string) {
	unescape := strings.NewReplacer(`\r`, "\r", `\n`, "\n", `\0`, "\x00")
	path := ts.MkAbs(filepath.FromSlash(args[0]))
	text, err := os.ReadFile(path)
	ts.Check(err)
	old := unescape.Replace(args[1])
	if !strings.Contains(string(text), old) {
		ts.Fatalf("%s does not have %q", args[0], old)
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, unescape.Replace(args[2]))), 0o644))
}
