package effect_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

func TestSQL(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "create table orders(id integer); insert into orders values (1),(2)"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why, query string
		want       int
		fails      string // part of the error
	}{
		{"rows are counted", "select count(*) from orders", 2, ""},
		{"what the query changes is rolled back", "delete from orders returning 7", 0, "gives 2 rows"},
		{"as the row count afterwards shows", "select count(*) from orders", 2, ""},
		{"a table that is not there is told, with the query", "select count(*) from order_s", 0, "order_s"},
		{"more than one row is no count", "select id from orders", 0, "gives 2 rows, not one; write one like"},
		{"no row is none either", "select id from orders where id = 9", 0, "gives 0 rows"},
		{"a word is no number", "select 'many'", 0, "many"},
		{"nor is nothing", "select null", 0, "write one like"},
	} {
		n, err := effect.SQL{DB: db, Query: tc.query}.Count(t.Context())
		wants(t, tc.why, n, tc.want, err, tc.fails)
	}
}

func TestAnswer(t *testing.T) {
	for _, tc := range []struct {
		why, answer, pointer string
		want                 int
		fails                string
	}{
		{"a number counts as it is", `{"count":3}`, "/count", 3, ""},
		{"an array by its elements", `{"orders":[{},{}]}`, "/orders", 2, ""},
		{"an object by its members", `{"a":1,"b":2}`, "", 2, ""},
		{"a pattern by what it names", `{"orders":[{"paid":true},{"paid":false},{}]}`, "/orders/*/paid", 2, ""},
		{"a pattern may name nothing", `{"orders":[]}`, "/orders/*", 0, ""},
		{"a place that is not there is no zero", `{"orders":[]}`, "/order", 0, `has nothing at "/order"`},
		{"half an order is nonsense", `{"count":1.5}`, "/count", 0, "point to a whole number"},
		{"so is a word", `{"count":"3"}`, "/count", 0, "point to a whole number"},
		{"and what is no JSON", `three`, "", 0, "is not JSON: \"three\"; count in a text by an expression, under matches"},
	} {
		p, err := jsondoc.ParsePointer(tc.pointer)
		if err != nil {
			t.Fatal(err)
		}
		exec := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: tc.answer}, nil
		})
		n, err := effect.Answer{Exec: exec, Call: tool.Call{Tool: "list_orders"}, Pointer: p}.Count(t.Context())
		wants(t, tc.why, n, tc.want, err, tc.fails)
	}
}

func TestMatches(t *testing.T) {
	for _, tc := range []struct {
		why, answer, expression string
		want                    int
	}{
		{"each place counts", "[FILE] a.txt\n[DIR] b\n[FILE] c.txt", `\[FILE\]`, 2},
		{"nothing there is zero", "", `\[FILE\]`, 0},
		{"lines, too", "a\nb\nc", `(?m)^.+$`, 3},
		{"JSON is a text as well", `{"content":"[FILE] a"}`, `\[FILE\]`, 1},
	} {
		exec := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: tc.answer}, nil
		})
		n, err := effect.Answer{Exec: exec, Matches: regexp.MustCompile(tc.expression)}.Count(t.Context())
		wants(t, tc.why, n, tc.want, err, "")
	}
}

// A probe that fails is never a count of zero.
func TestAnAnswerThatIsAnError(t *testing.T) {
	exec := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{Code: tool.CodeUnavailable, Message: "the tool is not available", Detail: "refused"}}, nil
	})
	_, err := effect.Answer{Exec: exec, Call: tool.Call{Tool: "list_orders"}}.Count(t.Context())
	wants(t, "an error of the tool", 0, 0, err, "refused")
}

func wants(t *testing.T, why string, got, want int, err error, fails string) {
	t.Helper()
	switch {
	case fails == "" && err != nil:
		t.Errorf("%s: %v", why, err)
	case fails != "" && (err == nil || !strings.Contains(err.Error(), fails)):
		t.Errorf("%s: the error is %v, without %q", why, err, fails)
	case got != want:
		t.Errorf("%s: %d, want %d", why, got, want)
	}
}
