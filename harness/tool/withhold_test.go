package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/redact"
	"github.com/retake-harness/retake/harness/tool"
)

// A real tool's internals are kept from the model, go to the log, and are named.
func TestInternalsAreWithheld(t *testing.T) {
	const clean = `{"ok":false,"error":{"code":"TOOL_ERROR","message":"the tool failed","retryable":false}}`
	failed := func(message string) tool.Result {
		return tool.Result{Err: &tool.Error{Code: tool.CodeToolError, Message: message, Class: failure.ToolFailed}}
	}
	for _, tc := range []struct {
		why      string
		says     tool.Result
		recorded bool
		told     string
		withheld []string
	}{
		{"a clean error goes through", failed("no such gift"), false, strings.Replace(clean, "the tool failed", "no such gift", 1), nil},
		{"a path", failed("open /srv/app/shop.db: denied"), false, clean, []string{`an absolute path: " /srv/app/shop.db"`}},
		{"a query", failed("near SELECT id FROM orders WHERE"), false, clean, []string{`a database query: "SELECT id FROM "`}},
		{"a stack", failed("panic: nil map"), false, clean, []string{`a stack trace: "panic: "`}},
		{"an inner address", failed("GET http://10.0.0.7/charge: 500"), false, clean, []string{`an inner address: "http://10.0.0.7/charge:"`}},
		{"a secret of the project", failed("bad password hunter2-hunter2"), false, clean, []string{"the secret DB_PASSWORD"}},
		{"an address without a scheme", failed("dial tcp 10.0.0.3:5432: refused"), false, clean, []string{`an inner address: "10.0.0.3:5432"`}},
		{"a database's words", failed(`duplicate key, constraint "orders_key"`), false, clean, []string{`a database's words: "constraint \""`}},
		{"a text in the place of a code", tool.Result{Err: &tool.Error{Code: "open /etc/shop.key", Message: "no", Class: failure.ToolFailed}}, false, clean, []string{`an absolute path: " /etc/shop.key"`, "a code that is none"}},
		{"a secret in the place of a code", tool.Result{Err: &tool.Error{Code: "hunter2-hunter2", Message: "no", Class: failure.ToolFailed}}, false, clean, []string{"the secret DB_PASSWORD"}},
		{"a secret in a result", tool.Result{Content: `{"password":"hunter2-hunter2"}`}, false, `{"password":"[secret DB_PASSWORD]"}`, []string{"the secret DB_PASSWORD"}},
		{"a path in a result is the tool's business", tool.Result{Content: `{"file":"/srv/app/a.txt"}`}, false, `{"file":"/srv/app/a.txt"}`, nil},
		{"what was recorded is shown as it was", failed("panic: nil map"), true, strings.Replace(clean, "the tool failed", "panic: nil map", 1), nil},
	} {
		j := &journal.Journal{}
		exec := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) { return tc.says, nil })
		box := tool.NewBox([]tool.Spec{{Decl: tool.Decl{Name: "t", Effect: tool.EffectRead}, Exec: exec, Instant: tc.recorded}},
			tool.Options{Journal: j, Secrets: redact.New(redact.Secret{Name: "DB_PASSWORD", Value: "hunter2-hunter2"})})
		ans, err := box.Call(t.Context(), "t", "c1", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.told, ans.Text); diff != "" {
			t.Errorf("%s: the model is told (-want +got):\n%s", tc.why, diff)
		}
		a := journal.Of[*journal.ToolAttempt](j)[0]
		if diff := cmp.Diff(tc.withheld, a.Withheld); diff != "" {
			t.Errorf("%s: withheld (-want +got):\n%s", tc.why, diff)
		}
		if tc.withheld != nil && tc.says.Err != nil && !strings.Contains(a.Detail, tc.says.Err.Message) {
			t.Errorf("%s: the log has %q only", tc.why, a.Detail)
		}
	}
}
