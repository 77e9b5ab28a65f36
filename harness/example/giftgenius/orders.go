package giftgenius

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// DraftLife is how long a draft can be ordered.
const DraftLife = 15 * time.Minute

type prepareArgs struct {
	GiftID   string `json:"gift_id"`
	Quantity int    `json:"quantity"`
	Key      string `json:"idempotency_key"`
}

type draft struct {
	OK              bool   `json:"ok"`
	DraftID         string `json:"draft_id"`
	GiftID          string `json:"gift_id"`
	GiftName        string `json:"gift_name"`
	Quantity        int    `json:"quantity"`
	TotalCents      int    `json:"total_cents"`
	Currency        string `json:"currency"`
	ValidForMinutes int    `json:"valid_for_minutes"`
}

// prepare makes a draft. It is written with a key, so that a repeated call gives
// the same draft; it has no effect outside.
func (s *Shop) prepare(ctx context.Context, tenant string, a prepareArgs) (json.RawMessage, error) {
	key := a.Key
	a.Key, a.Quantity = "", cmp.Or(a.Quantity, 1)
	return s.writes.do(ctx, &write{
		tenant: tenant, tool: "prepare_order", key: key, fingerprint: fingerprint(a),
		plan: func(ctx context.Context, tx *sql.Tx) (plan, error) {
			g, err := giftForSale(ctx, tx, a.GiftID)
			return plan{GiftID: g.ID, GiftName: g.Name, Quantity: a.Quantity, Cents: g.PriceCents * a.Quantity}, err
		},
		record: s.recordDraft,
	})
}

func (s *Shop) recordDraft(ctx context.Context, tx *sql.Tx, op operation, _ []string) (any, error) {
	p := op.plan
	out := draft{
		OK: true, DraftID: op.name("draft"), GiftID: p.GiftID, GiftName: p.GiftName, Quantity: p.Quantity,
		TotalCents: p.Cents, Currency: currency, ValidForMinutes: int(DraftLife / time.Minute),
	}
	return out, exec(ctx, tx, `insert into drafts (id, tenant, gift_id, quantity, total_cents, seal, expires_at) values (?, ?, ?, ?, ?, ?, ?)`,
		out.DraftID, op.tenant, out.GiftID, out.Quantity, out.TotalCents, seal(op.tenant, p), s.now().Add(DraftLife).UnixMilli())
}

// seal is over all that the customer is shown, so that a draft that was changed
// afterwards is known.
func seal(tenant string, p plan) string {
	return digest(tenant, p.GiftID, strconv.Itoa(p.Quantity), strconv.Itoa(p.Cents))
}

type commitArgs struct {
	DraftID   string `json:"draft_id"`
	Confirmed int    `json:"confirmed_total_cents"`
	Key       string `json:"idempotency_key"`
}

type order struct {
	OK         bool   `json:"ok,omitempty"`
	OrderID    string `json:"order_id"`
	DraftID    string `json:"draft_id,omitempty"`
	GiftID     string `json:"gift_id"`
	Quantity   int    `json:"quantity"`
	TotalCents int    `json:"total_cents"`
	Currency   string `json:"currency"`
}

// commit orders a draft.
func (s *Shop) commit(ctx context.Context, tenant string, a commitArgs) (json.RawMessage, error) {
	key := a.Key
	a.Key = ""
	return s.writes.do(ctx, &write{
		tenant: tenant, tool: "commit_order", key: key, fingerprint: fingerprint(a),
		plan: func(ctx context.Context, tx *sql.Tx) (plan, error) { return s.planOrder(ctx, tx, tenant, a) },
		claim: func(ctx context.Context, tx *sql.Tx, op operation) error {
			return exec(ctx, tx, `update drafts set operation = ? where id = ?`, op.id, a.DraftID)
		},
		act:    s.payOnce("order"),
		record: recordOrder,
	})
}

// planOrder checks that the draft is the tenant's, free, alive, as it was shown,
// still at today's price, and what the customer has confirmed.
func (s *Shop) planOrder(ctx context.Context, tx *sql.Tx, tenant string, a commitArgs) (plan, error) {
	const query = `select gift_id, quantity, total_cents, seal, expires_at, operation from drafts where id = ? and tenant = ?`
	p := plan{DraftID: a.DraftID}
	sealed, expires, taken := "", int64(0), sql.NullString{}
	err := tx.QueryRowContext(ctx, query, a.DraftID, tenant).Scan(&p.GiftID, &p.Quantity, &p.Cents, &sealed, &expires, &taken)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return plan{}, &Error{
			Code: CodeNotFound, Message: fmt.Sprintf("there is no draft %q; prepare_order makes one", a.DraftID),
			Detail: fmt.Errorf("%s: %w", query, err),
		}
	case err != nil:
		return plan{}, err
	case taken.Valid:
		return plan{}, refusal(CodeSpent, "this draft has been ordered, or is about to be, under another idempotency_key; list_orders shows the orders")
	case s.now().UnixMilli() >= expires:
		return plan{}, refusal(CodeExpired, "the draft has expired; prepare the order again and have it confirmed")
	}
	g, err := giftForSale(ctx, tx, p.GiftID)
	switch {
	case err != nil:
		return plan{}, err
	case sealed != seal(tenant, p) || g.PriceCents*p.Quantity != p.Cents:
		return plan{}, refusal(CodeChanged, "the draft or its price has changed since it was shown; prepare the order again and have it confirmed")
	case a.Confirmed != p.Cents:
		return plan{}, refusal(CodeUnconfirmed, "the total is %d cents, confirmed were %d; ask the user again", p.Cents, a.Confirmed)
	}
	return p, nil
}

func recordOrder(ctx context.Context, tx *sql.Tx, op operation, charges []string) (any, error) {
	p := op.plan
	out := order{OK: true, OrderID: op.name("order"), DraftID: p.DraftID, GiftID: p.GiftID, Quantity: p.Quantity, TotalCents: p.Cents, Currency: currency}
	return out, exec(ctx, tx, `insert into orders (id, tenant, draft_id, gift_id, quantity, total_cents, charge_id) values (?, ?, ?, ?, ?, ?, ?)`,
		out.OrderID, op.tenant, out.DraftID, out.GiftID, out.Quantity, out.TotalCents, charges[0])
}

type listArgs struct {
	Limit int `json:"limit"`
}

type orders struct {
	OK     bool    `json:"ok"`
	Orders []order `json:"orders"`
	Total  int     `json:"total"`
}

func (s *Shop) listOrders(ctx context.Context, tenant string, a listArgs) (orders, error) {
	out := orders{OK: true, Orders: []order{}}
	rows, err := s.store.db.QueryContext(ctx, `select id, gift_id, quantity, total_cents, count(*) over () from orders
		where tenant = ? order by rowid desc limit ?`, tenant, cmp.Or(a.Limit, 20))
	if err != nil {
		return orders{}, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		o := order{Currency: currency}
		if err := rows.Scan(&o.OrderID, &o.GiftID, &o.Quantity, &o.TotalCents, &out.Total); err != nil {
			return orders{}, err
		}
		out.Orders = append(out.Orders, o)
	}
	return out, rows.Err()
}
