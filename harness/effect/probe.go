package effect

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// Probe counts the effects of one kind that there are in the world: rows of a
// table, orders that a shop lists. It may be asked by many goroutines.
type Probe interface {
	// Count is how many there are now. An error is of class world: nobody knows.
	Count(ctx context.Context) (int, error)
}

// ProbeFunc is a func as a Probe.
type ProbeFunc func(ctx context.Context) (int, error)

// Count calls f.
func (f ProbeFunc) Count(ctx context.Context) (int, error) { return f(ctx) }

// SQL counts by a query on a tool's database, which gives one row with one whole
// number. What it changes is rolled back.
type SQL struct {
	DB    *sql.DB
	Query string
}

// Count asks the database.
func (q SQL) Count(ctx context.Context) (int, error) {
	tx, err := q.DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, failure.Errorf(failure.World, "opening the database: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it is only read
	rows, err := tx.QueryContext(ctx, q.Query)
	if err != nil {
		return 0, failure.Errorf(failure.World, "the query %q: %w", q.Query, err)
	}
	defer func() { _ = rows.Close() }()
	n, err := oneNumber(rows)
	if err != nil {
		return 0, failure.Errorf(failure.World, "the query %q: %w; write one like select count(*) from orders", q.Query, err)
	}
	return n, nil
}

func oneNumber(rows *sql.Rows) (int, error) {
	n, seen := 0, 0
	for rows.Next() {
		seen++
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if seen != 1 {
		return 0, failure.Errorf(failure.World, "gives %d rows, not one", seen)
	}
	return n, nil
}

// Answer counts by what a reading tool says, an endpoint's GET among them.
type Answer struct {
	Exec tool.Executor
	Call tool.Call
	// Pointer names a whole number, or an array or object whose members are
	// counted; with a * in it, what it names is counted.
	Pointer jsondoc.Pointer
	// Matches counts where it matches the answer's text, instead of Pointer; nil:
	// the answer is JSON.
	Matches *regexp.Regexp
}

// Count calls the tool.
func (a Answer) Count(ctx context.Context) (int, error) {
	res, err := a.Exec.Execute(ctx, a.Call)
	switch {
	case err != nil:
		return 0, err
	case res.Err != nil && res.Err.Detail != "":
		return 0, failure.Errorf(failure.World, "the tool %q: %w (%s)", a.Call.Tool, res.Err, res.Err.Detail)
	case res.Err != nil:
		return 0, failure.Errorf(failure.World, "the tool %q: %w", a.Call.Tool, res.Err)
	}
	if a.Matches != nil {
		return len(a.Matches.FindAllStringIndex(res.Content, -1)), nil
	}
	n, err := a.count(jsontext.Value(res.Content))
	if err != nil {
		return 0, failure.Errorf(failure.World, "the answer of the tool %q: %w", a.Call.Tool, err)
	}
	return n, nil
}

func (a Answer) count(answer jsontext.Value) (int, error) {
	if !answer.IsValid() {
		return 0, failure.Errorf(failure.World, "is not JSON: %.100q; count in a text by an expression, under matches", string(answer))
	}
	found := a.Pointer.Find(answer)
	switch {
	case a.Pointer.Any():
		return len(found), nil
	case len(found) == 0:
		return 0, failure.Errorf(failure.World, "has nothing at %q; it is %.200s", a.Pointer, string(answer))
	}
	return count(found[0], a.Pointer)
}

func count(v jsontext.Value, at jsondoc.Pointer) (n int, err error) {
	switch v.Kind() {
	case '[':
		var elements []jsontext.Value
		err = json.Unmarshal(v, &elements)
		return len(elements), err
	case '{':
		var members map[string]jsontext.Value
		err = json.Unmarshal(v, &members)
		return len(members), err
	case '0':
		if n, err = strconv.Atoi(string(v)); err == nil {
			return n, nil
		}
	default:
	}
	return 0, failure.Errorf(failure.World, "is %s at %q; point to a whole number, an array or an object", string(v), at)
}
