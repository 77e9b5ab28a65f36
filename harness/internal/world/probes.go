package world

import (
	"database/sql"
	"net/url"
	"strings"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// probe makes what counts, as the principal of the first turn where one is needed.
func (w *world) probe(p *scenario.Probe, executors map[string]tool.Executor) (effect.Probe, error) {
	switch {
	case p.SQL != nil:
		db, err := OpenDatabase(p.SQL, w.scratch, w.options.Getenv)
		if err != nil {
			return nil, err
		}
		w.shut = append(w.shut, func() { _ = db.Close() })
		return effect.SQL{DB: db, Query: p.SQL.Query}, nil
	case p.HTTP != nil:
		x, err := w.endpoint(p.HTTP, nil, 0)
		return effect.Answer{Exec: x, Call: tool.Call{Tool: p.HTTP.URL, Args: []byte("{}")}, Pointer: p.Pointer, Matches: p.Matches}, err
	}
	exec := executors[p.Tool.Name]
	if p.Tool.Server != "" {
		exec = w.servers[p.Tool.Server].Tool(p.Tool.Name, w.principals)
	}
	return effect.Answer{Exec: exec, Call: tool.Call{Tool: p.Tool.Name, Args: InScratch(p.Tool.Args, w.scratch), Principal: w.first}, Pointer: p.Pointer, Matches: p.Matches}, nil
}

// OpenDatabase opens the database that the probe asks.
func OpenDatabase(p *scenario.SQLProbe, scratch string, getenv func(string) string) (*sql.DB, error) {
	values, hidden, err := tool.Resolve([]tool.Setting{p.Database}, getenv)
	if err != nil {
		return nil, err
	}
	address := scenario.Fill(values[0].Value, map[string]string{scenario.Scratch: scratch})
	driver, name := "pgx", address
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		// What is counted is written by somebody else at the same time.
		driver, name = "sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, failure.Errorf(failure.World, "the database: %s; a Go test has to import the driver: %s", hidden.Text(err.Error()), drivers[driver])
	}
	return db, nil
}

// drivers are the packages that the command links.
var drivers = map[string]string{
	"sqlite": `_ "modernc.org/sqlite"`,
	"pgx":    `_ "github.com/jackc/pgx/v5/stdlib"`,
}
