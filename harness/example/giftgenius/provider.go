package giftgenius

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync/atomic"
	"time"
)

// provider is the payment provider, as the shop sees it from outside: it
// charges, keeps its books, and honours a key. Nothing of it is part of the
// shop's own transactions.
type provider struct {
	books *store
	now   func() time.Time
	hooks Hooks
	made  atomic.Int64 // charges asked for, for Hooks.FailAfter
}

// charge is what the provider is asked for.
type charge struct {
	tenant, purpose string
	cents           int
}

var errProviderDown = errors.New("POST https://payments.giftgenius.internal:8443/v1/charges: 503 Service Unavailable")

// charge charges, once for each key, however often it is asked. Without a key
// each call is a charge of its own.
func (p *provider) charge(ctx context.Context, key string, c charge) (id string, err error) {
	if p.hooks.FailPayment && p.made.Add(1) > int64(p.hooks.FailAfter) {
		return "", &Error{
			Code: CodePayment, Message: "the payment provider does not answer; nothing is lost: repeat the call unchanged, with the same idempotency_key",
			Retryable: true, Detail: errProviderDown,
		}
	}
	err = p.books.tx(ctx, func(tx *sql.Tx) error {
		err := exec(ctx, tx, `insert into charges (provider_key, tenant, purpose, amount_cents, at) values (?, ?, ?, ?, ?) on conflict (provider_key) do nothing`,
			sql.NullString{String: key, Valid: key != ""}, c.tenant, c.purpose, c.cents, p.now().UnixMilli())
		if err != nil {
			return err
		}
		n := int64(0)
		if key == "" {
			err = tx.QueryRowContext(ctx, `select last_insert_rowid()`).Scan(&n)
		} else {
			err = tx.QueryRowContext(ctx, `select id from charges where provider_key = ?`, key).Scan(&n)
		}
		id = chargeID(n)
		return err
	})
	return id, err
}

// find looks a charge up by its key.
func (p *provider) find(ctx context.Context, key string) (id string, found bool, err error) {
	n := int64(0)
	err = p.books.db.QueryRowContext(ctx, `select id from charges where provider_key = ?`, key).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return chargeID(n), err == nil, err
}

func chargeID(n int64) string { return "ch_" + strconv.FormatInt(n, 10) }
