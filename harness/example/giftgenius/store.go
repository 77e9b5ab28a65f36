package giftgenius

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed schema.sql
var schema string

// store is the shop's file. Each change is one immediate transaction, so a
// process may be killed anywhere.
type store struct{ db *sql.DB }

func openStore(ctx context.Context, file string) (*store, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("the shop's file %q: %w", file, err)
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, fmt.Errorf("the shop's file %q: %w", file, err)
	}
	db.SetMaxOpenConns(1) // SQLite has one writer: calls queue here, not in its busy time-out
	s := &store{db: db}
	if err := s.tx(ctx, func(tx *sql.Tx) error { return exec(ctx, tx, schema) }); err != nil {
		return nil, fmt.Errorf("the shop's file %q: making its tables: %w", file, err)
	}
	return s, nil
}

// tx runs do in one transaction, which is kept when do gives no error.
func (s *store) tx(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // do's error tells more
		return err
	}
	return tx.Commit()
}

// begin notes that a server has started, and gives its epoch.
func (s *store) begin(ctx context.Context, now time.Time) (epoch int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `insert into epochs (at) values (?) returning epoch`, now.UnixMilli()).Scan(&epoch)
	})
	return epoch, err
}

func exec(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	_, err := tx.ExecContext(ctx, query, args...)
	return err
}
