package commandtool_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/commandtool"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){
		"echo": func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"says": func() { fmt.Print(os.Getenv("SAYS")); os.Exit(code()) },
		"complains": func() {
			fmt.Fprint(os.Stderr, "cannot open /var/lib/shop.db with ", os.Getenv("DB_PASSWORD"))
			os.Exit(1)
		},
		"env": func() {
			text, _ := json.Marshal(slices.Sorted(slices.Values(os.Environ())))
			fmt.Printf("%s", text)
		},
		"hangs": func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = processtest.Env("sleeps")
			_ = cmd.Start()
			_ = os.WriteFile(os.Getenv("NOTE"), []byte(strconv.Itoa(os.Getpid())), 0o600)
			time.Sleep(time.Hour)
		},
		"sleeps": func() { time.Sleep(time.Hour) },
		"floods": func() {
			for {
				if _, err := fmt.Print(strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		},
		"floods-stderr": func() {
			for range 5000 {
				fmt.Fprint(os.Stderr, strings.Repeat("x", 4096))
			}
			fmt.Print(`{"ok":true}`)
		},
	})
}

func code() int {
	n, _ := strconv.Atoi(os.Getenv("CODE"))
	return n
}

func getenv(name string) string {
	return map[string]string{"PATH": "/bin", "HOME": "/root", "SECRET_OF_DB": "hunter2hunter2"}[name]
}

// run calls the test program once; settings are NAME=value.
func run(t *testing.T, c commandtool.Command, program string, settings ...string) tool.Result {
	t.Helper()
	c.Args = []string{processtest.Self(t)}
	for _, s := range append(processtest.Env(program), settings...) {
		name, value, _ := strings.Cut(s, "=")
		c.Env = append(c.Env, tool.Setting{Name: name, Value: value})
	}
	x, err := commandtool.New(c, getenv)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(t.Context(), tool.Call{Args: jsontext.Value(`{"n":1.50}`), TaskID: "t1", AttemptID: "t1-a1"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnswers(t *testing.T) {
	own := `{"ok":false,"error":{"code":"DAILY_LIMIT","message":"no more today","retryable":false}}`
	limit := tool.Result{Err: &tool.Error{Code: "DAILY_LIMIT", Message: "no more today", Class: failure.ToolFailed}}
	broken := tool.Result{Err: &tool.Error{Code: tool.CodeUpstream, Message: "the tool broke off", Retryable: true, Class: failure.ToolUnavailable}}
	noJSON := tool.Result{Err: &tool.Error{Code: tool.CodeBadOutput, Message: "the tool's answer is no JSON", Class: failure.ToolBadOutput}}
	for _, tc := range []struct {
		why, says string
		code      int
		want      tool.Result
	}{
		{"JSON as it is", `{"ok":true, "n":1.0}`, 0, tool.Result{Content: `{"ok":true, "n":1.0}`}},
		{"an error in our form counts with exit code 0", own, 0, limit},
		{"and with another", own, 3, limit},
		{"the inner form, where the exit code says that it is one", `{"code":"DAILY_LIMIT","message":"no more today"}`, 3, limit},
		{"a result with a bad exit code is none", `{"ok":true}`, 3, broken},
		{"nothing, and a bad exit code", ``, 1, broken},
		{"a line of a log", "starting…\n{}", 0, noJSON},
		{"nothing", "", 0, noJSON},
	} {
		got := run(t, commandtool.Command{}, "says", "SAYS="+tc.says, "CODE="+strconv.Itoa(tc.code))
		if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(tool.Error{}, "Detail")); diff != "" {
			t.Errorf("%s: %q, exit code %d (-want +got):\n%s", tc.why, tc.says, tc.code, diff)
		}
	}
}

func TestArgumentsAreTheInput(t *testing.T) {
	if r := run(t, commandtool.Command{}, "echo"); r.Content != `{"n":1.50}` {
		t.Errorf("got %v", r)
	}
}

func TestEnvironmentIsWhatIsDeclared(t *testing.T) {
	t.Setenv("NOT_DECLARED", "x")
	got := run(t, commandtool.Command{Env: []tool.Setting{{Name: "DB", Env: "SECRET_OF_DB"}}}, "env").Content
	var names []string
	if err := json.Unmarshal([]byte(got), &names); err != nil {
		t.Fatal(err, got)
	}
	want := []string{
		"DB=hunter2hunter2", "GORACE=atexit_sleep_ms=0", "HOME=/root", "PATH=/bin",
		"RETAKE_ATTEMPT_ID=t1-a1", "RETAKE_TASK_ID=t1", "RETAKE_TEST_PROGRAM=env",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStandardErrorIsForTheLog(t *testing.T) {
	r := run(t, commandtool.Command{Env: []tool.Setting{{Name: "DB_PASSWORD", Env: "SECRET_OF_DB"}}}, "complains")
	if strings.Contains(r.Err.Message, "/var") || !strings.Contains(r.Err.Detail, "exit code 1; standard error: cannot open /var/lib/shop.db") {
		t.Errorf("message %q, detail %q", r.Err.Message, r.Err.Detail)
	}
	if strings.Contains(r.Err.Detail, "hunter2") {
		t.Errorf("a secret in %q", r.Err.Detail)
	}
}

func TestTimeKillsTheGroup(t *testing.T) {
	note := t.TempDir() + "/pid"
	var text []byte
	for limit := time.Second; len(text) == 0; limit *= 2 { // a loaded machine may need more until the child is there
		r := run(t, commandtool.Command{Timeout: limit}, "hangs", "NOTE="+note)
		if r.Err == nil || r.Err.Class != failure.ToolTimeout || !r.Err.Retryable {
			t.Fatalf("got %v", r.Err)
		}
		var err error
		if text, err = os.ReadFile(note); err != nil && limit > time.Minute {
			t.Fatal(err)
		}
	}
	pid, _ := strconv.Atoi(string(text))
	processtest.Gone(t, pid)
}

func TestFloods(t *testing.T) {
	r := run(t, commandtool.Command{MaxOutput: 100_000}, "floods")
	if r.Err == nil || r.Err.Code != tool.CodeBadOutput || r.Err.Detail != "more than 100000 bytes" {
		t.Errorf("got %v", r.Err)
	}
	if r := run(t, commandtool.Command{}, "floods-stderr"); r.Content != `{"ok":true}` {
		t.Errorf("a full standard error must not hold up the tool: %v", r.Err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, err := commandtool.New(commandtool.Command{Args: []string{processtest.Self(t)}}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(ctx, tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || r.Err.Code != tool.CodeCancelled {
		t.Errorf("%v, %v", r.Err, err)
	}
}

func TestNotThere(t *testing.T) {
	x, err := commandtool.New(commandtool.Command{Args: []string{"retake-no-such-program"}}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(t.Context(), tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || r.Err.Code != tool.CodeUnavailable || r.Err.Retryable || !strings.Contains(r.Err.Detail, "retake-no-such-program") {
		t.Errorf("%v, %v", r.Err, err)
	}
	for why, c := range map[string]commandtool.Command{
		"no program":                 {},
		"a variable that is not set": {Args: []string{"x"}, Env: []tool.Setting{{Name: "A", Env: "NOPE"}}},
	} {
		if _, err := commandtool.New(c, getenv); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}
