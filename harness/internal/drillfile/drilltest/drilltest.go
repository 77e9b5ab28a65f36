// Package drilltest is a shop for tests of drills: an MCP server with a SQLite
// file, that keeps what it promises, or with a handler that looks the key up,
// acts, and then stores the result. The test's own binary plays it; see package
// processtest.
package drilltest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite" // the shop's database

	"github.com/retake-harness/retake/harness/clock"
)

// What the shop promises.
const (
	KeyLife  = 24 * time.Hour
	LockLife = 5 * time.Minute
)

// Main is the program. Its flags are -db FILE, -naive and -http ADDRESS; over HTTP
// the token of ann is ann-token, and so on; else TENANT says who calls.
func Main() {
	s := &shop{}
	flags := flag.NewFlagSet("shop", flag.ExitOnError)
	file := flags.String("db", "", "")
	address := flags.String("http", "", "")
	flags.BoolVar(&s.naive, "naive", false, "")
	_ = flags.Parse(os.Args[1:]) // it exits
	if err := s.run(context.Background(), *file, *address); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type shop struct {
	db     *sql.DB
	naive  bool
	offset time.Duration
	hold   string
	fail   bool
	meet   chan struct{}
}

const tables = `
create table if not exists orders (id integer primary key, tenant text, sku text);
create table if not exists keys (tenant text, key text, mark text, result text, at integer, primary key (tenant, key));`

func (s *shop) run(ctx context.Context, file, address string) (err error) {
	env := variables()
	s.hold, s.fail, s.meet = env["RETAKE_HOLD_AT"], env["RETAKE_FAIL"] != "", make(chan struct{})
	if v := env["RETAKE_CLOCK_OFFSET"]; v != "" {
		if s.offset, err = time.ParseDuration(v); err != nil {
			return err
		}
	}
	if s.db, err = sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)&_txlock=immediate"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.ExecContext(ctx, tables); err != nil {
		return err
	}
	if address == "" {
		return s.server(env["TENANT"]).Run(ctx, &mcp.StdioTransport{})
	}
	return http.ListenAndServe(address, s.door()) //nolint:gosec // a test ends it
}

func variables() map[string]string {
	out := map[string]string{}
	for _, v := range os.Environ() { //nolint:forbidigo // it is a program of its own
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}

// door lets tenants in by their tokens.
func (s *shop) door() http.Handler {
	by := map[string]*mcp.Server{}
	for _, tenant := range []string{"ann", "bob"} {
		by["Bearer "+tenant+"-token"] = s.server(tenant)
	}
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return by[r.Header.Get("Authorization")] }, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if by[r.Header.Get("Authorization")] == nil {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

type orderArgs struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
	Key      string `json:"key"`
}

type none struct{}

func (s *shop) server(tenant string) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(m, &mcp.Tool{Name: "order", Description: "Orders."}, func(ctx context.Context, _ *mcp.CallToolRequest, a orderArgs) (*mcp.CallToolResult, any, error) {
		text, err := s.order(ctx, tenant, a)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: err != nil}, nil, nil
	})
	mcp.AddTool(m, &mcp.Tool{Name: "orders", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		n := 0
		err := s.db.QueryRowContext(ctx, `select count(*) from orders where tenant = ?`, tenant).Scan(&n)
		return nil, map[string]int{"orders": n}, err
	})
	return m
}

var errRefused = errors.New("refused")

func refused(code string) (string, error) {
	return fmt.Sprintf(`{"ok":false,"error":{"code":%q,"message":"no","retryable":false}}`, code), errRefused
}

func (s *shop) order(ctx context.Context, tenant string, a orderArgs) (string, error) {
	if a.Key == "" || len(a.Key) > 64 || a.Quantity < 1 {
		return refused("VALIDATION_ERROR")
	}
	mark := fmt.Sprintf("%s/%d", a.SKU, a.Quantity)
	s.at("before_reserve")
	if s.naive {
		return s.look(ctx, tenant, mark, a)
	}
	stored, code, err := s.reserve(ctx, tenant, mark, a.Key)
	switch {
	case err != nil:
		return "", err
	case code != "":
		return refused(code)
	case stored != "":
		return stored, nil
	}
	s.at("after_reserve")
	return s.finish(ctx, tenant, a)
}

func (s *shop) at(point string) {
	if s.hold == point {
		fmt.Fprintln(os.Stderr, "retake: held at "+point)
		select {}
	}
}

func (s *shop) now() int64 { return clock.Wallclock().Add(s.offset).UnixMilli() }

// tx runs f in a transaction.
func (s *shop) tx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of what was not committed
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// reserve takes the key, or says what is to be answered.
func (s *shop) reserve(ctx context.Context, tenant, mark, key string) (stored, code string, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		known, at := "", int64(0)
		err := tx.QueryRowContext(ctx, `select mark, result, at from keys where tenant = ? and key = ?`, tenant, key).Scan(&known, &stored, &at)
		age := time.Duration(s.now()-at) * time.Millisecond
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		case err == nil && stored != "" && age > KeyLife:
			stored = ""
		case err == nil && known != mark:
			code = "KEY_REUSED"
			return nil
		case err == nil && stored == "" && age < LockLife:
			code = "CONFLICT"
			return nil
		case stored != "":
			return nil
		}
		_, err = tx.ExecContext(ctx, `insert or replace into keys values (?, ?, ?, '', ?)`, tenant, key, mark, s.now())
		return err
	})
	return stored, code, err
}

// finish makes the order and stores the result, in one transaction.
func (s *shop) finish(ctx context.Context, tenant string, a orderArgs) (text string, err error) {
	if s.fail {
		if _, err := s.db.ExecContext(ctx, `delete from keys where tenant = ? and key = ?`, tenant, a.Key); err != nil {
			return "", err
		}
		return refused("PAYMENT_PROVIDER_ERROR")
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		if text, err = s.place(ctx, tx.ExecContext, tenant, a); err != nil {
			return err
		}
		s.at("after_effect")
		_, err := tx.ExecContext(ctx, `update keys set result = ?, at = ? where tenant = ? and key = ?`, text, s.now(), tenant, a.Key)
		return err
	})
	s.at("after_record")
	return text, err
}

type execFunc func(ctx context.Context, query string, args ...any) (sql.Result, error)

func (s *shop) place(ctx context.Context, exec execFunc, tenant string, a orderArgs) (string, error) {
	r, err := exec(ctx, `insert into orders (tenant, sku) values (?, ?)`, tenant, a.SKU)
	if err != nil {
		return "", err
	}
	id, err := r.LastInsertId()
	return fmt.Sprintf(`{"ok":true,"order":"order-%d"}`, id), err
}

// look is the form of the tutorials: it looks the key up, acts, and then stores the
// result. It waits for a second call between the first two.
func (s *shop) look(ctx context.Context, tenant, mark string, a orderArgs) (string, error) {
	known, stored := "", ""
	err := s.db.QueryRowContext(ctx, `select mark, result from keys where tenant = ? and key = ?`, tenant, a.Key).Scan(&known, &stored)
	switch {
	case err == nil && !strings.EqualFold(known, mark):
		return refused("KEY_REUSED")
	case err == nil:
		return stored, nil
	}
	s.wait(ctx)
	text, err := s.place(ctx, s.db.ExecContext, tenant, a)
	if err != nil {
		return "", err
	}
	s.at("after_effect")
	_, err = s.db.ExecContext(ctx, `insert or replace into keys values (?, ?, ?, ?, ?)`, tenant, a.Key, mark, text, s.now())
	s.at("after_record")
	return text, err
}

// wait waits until a second call is here too, or for a moment.
func (s *shop) wait(ctx context.Context) {
	limited, cancel := clock.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	select {
	case s.meet <- struct{}{}:
	case <-s.meet:
	case <-limited.Done():
	}
}
