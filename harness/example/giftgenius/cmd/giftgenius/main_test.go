package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
	"github.com/retake-harness/retake/harness/internal/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(){"giftgenius": main})
}

// server is the command, running.
type server struct {
	cmd     *exec.Cmd
	session *mcp.ClientSession
	said    *bufio.Reader // its standard error
}

func start(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	cmd := exec.Command(processtest.Self(t), args...)
	cmd.Env = append(append(os.Environ(), processtest.Env("giftgenius")...), env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd, session: session, said: bufio.NewReader(stderr)}
	t.Cleanup(s.kill)
	return s
}

// kill ends the process as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.session.Close()
}

func (s *server) call(t *testing.T, tool, args string) (text string, isError bool) {
	t.Helper()
	res, err := s.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// crash makes a call whose process is killed at a point.
func crash(t *testing.T, at giftgenius.Point, tool, args string, flags ...string) {
	t.Helper()
	s := start(t, []string{"RETAKE_HOLD_AT=" + string(at)}, flags...)
	lost := make(chan error, 1)
	go func() {
		_, err := s.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		lost <- err
	}()
	line, err := s.said.ReadString('\n')
	if want := "retake: held at " + string(at) + "\n"; err != nil || line != want {
		t.Fatalf("the server said %q (%v), want %q", line, err, want)
	}
	s.kill()
	if err := <-lost; err == nil {
		t.Error("the call was answered")
	}
}

func count(t *testing.T, file, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A crash anywhere costs nothing with the sound handler: the retry finishes what
// was begun, and further ones replay it. The naive handler charges twice when the
// crash comes between its act and its insert.
func TestCrash(t *testing.T) {
	t.Parallel()
	const tool, args = "create_checkout_session", `{"gift_id":"gift-mug","idempotency_key":"k"}`
	tests := []struct {
		at          giftgenius.Point
		handler     string
		before, end int // charges when the process is dead, and after the retry
		why         string
	}{
		{at: giftgenius.BeforeReserve, handler: "sound", before: 0, end: 1, why: "nothing was begun"},
		{at: giftgenius.AfterReserve, handler: "sound", before: 0, end: 1, why: "the reservation is taken over, nothing was charged"},
		{at: giftgenius.AfterEffect, handler: "sound", before: 1, end: 1, why: "the charge is found by the operation's id"},
		{at: giftgenius.AfterRecord, handler: "sound", before: 1, end: 1, why: "the result is stored"},
		{at: giftgenius.AfterEffect, handler: "naive", before: 1, end: 2, why: "nobody knows of the first charge"},
		{at: giftgenius.AfterRecord, handler: "naive", before: 1, end: 1, why: "its row is there: a first test of it passes"},
	}
	for _, tt := range tests {
		t.Run(tt.handler+"/"+string(tt.at), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "shop.db")
			flags := []string{"--db", file, "--handler", tt.handler}
			crash(t, tt.at, tool, args, flags...)
			if n := count(t, file, `select count(*) from charges`); n != tt.before {
				t.Errorf("%d charges after the crash, want %d: %s", n, tt.before, tt.why)
			}
			again := start(t, nil, flags...)
			first, isError := again.call(t, tool, args)
			second, _ := again.call(t, tool, args)
			if isError || first != second {
				t.Errorf("the retry answers %s, the next one %s", first, second)
			}
			charges, sessions := count(t, file, `select count(*) from charges`), count(t, file, `select count(*) from checkout_sessions`)
			if charges != tt.end || sessions != 1 {
				t.Errorf("%d charges and %d sessions after the retry, want %d and 1: %s", charges, sessions, tt.end, tt.why)
			}
		})
	}
}

// Of a batch that was cut off after its first card, only the others are sent.
func TestCrashInABatch(t *testing.T) {
	const tool = "send_gift_cards"
	const args = `{"cards":[{"recipient":"a@b.example","amount_cents":500},{"recipient":"c@b.example","amount_cents":600}],"idempotency_key":"g"}`
	file := filepath.Join(t.TempDir(), "shop.db")
	crash(t, giftgenius.AfterEffect, tool, args, "--db", file)
	if n := count(t, file, `select count(*) from charges`); n != 1 {
		t.Fatalf("%d charges after the crash, want 1", n)
	}
	if text, isError := start(t, nil, "--db", file).call(t, tool, args); isError {
		t.Error(text)
	}
	if n := count(t, file, `select count(distinct amount_cents) from charges`); n != 2 || count(t, file, `select count(*) from charges`) != 2 {
		t.Errorf("charges of %d amounts, want 2, each once", n)
	}
}

func TestTenantOfStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	const tool, args = "create_checkout_session", `{"gift_id":"gift-mug","idempotency_key":"k"}`
	for _, env := range [][]string{nil, {"GIFTGENIUS_TENANT=alice"}} {
		if text, isError := start(t, env, "--db", file).call(t, tool, args); isError {
			t.Error(text)
		}
	}
	if n := count(t, file, `select count(distinct tenant) from charges where tenant in ('local', 'alice')`); n != 2 {
		t.Errorf("%d tenants were charged, want 2", n)
	}
}

// What a failing tool knows goes to the log, and none of it to the model.
func TestDetailsAreLogged(t *testing.T) {
	s := start(t, []string{"RETAKE_FAIL=payment"}, "--db", filepath.Join(t.TempDir(), "shop.db"))
	text, isError := s.call(t, "create_checkout_session", `{"gift_id":"gift-mug","idempotency_key":"k"}`)
	if !isError || strings.Contains(text, "internal:") {
		t.Errorf("got %s", text)
	}
	if line, err := s.said.ReadString('\n'); err != nil || !strings.Contains(line, "payments.giftgenius.internal") {
		t.Errorf("the log says %q (%v)", line, err)
	}
}

func TestBadUsage(t *testing.T) {
	tests := []struct {
		name, why, want string
		args            []string
		env             map[string]string
	}{
		{name: "handler", why: "a misspelt specimen must not be the sound one", args: []string{"--handler", "niave"}, want: `unknown handler "niave"`},
		{name: "mistake", why: "a misspelt mistake must not be none", args: []string{"--mistake", "leaks"}, want: `unknown mistake "leaks"`},
		{name: "argument", why: "there are flags only", args: []string{"serve"}, want: `unknown argument "serve"`},
		{name: "hook", why: "a misspelt hook must not be none", env: map[string]string{"RETAKE_HOLD_AT": "x"}, want: `RETAKE_HOLD_AT: unknown point "x"`},
		{name: "tokens", why: "they are pairs", env: map[string]string{"GIFTGENIUS_TOKENS": "x"}, want: "GIFTGENIUS_TOKENS: a token is written TENANT=TOKEN"},
		{name: "open to all", why: "without tokens only this machine may call", args: []string{"--http", "0.0.0.0:0"}, want: "can be reached from outside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"--db", filepath.Join(t.TempDir(), "shop.db")}, tt.args...)
			err := run(t.Context(), args, func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
			}
		})
	}
}
