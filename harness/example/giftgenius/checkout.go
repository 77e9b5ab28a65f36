package giftgenius

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

type checkoutArgs struct {
	GiftID string `json:"gift_id"`
	Key    string `json:"idempotency_key"`
}

type session struct {
	OK          bool   `json:"ok"`
	SessionID   string `json:"session_id"`
	GiftID      string `json:"gift_id"`
	AmountCents int    `json:"amount_cents"`
	Currency    string `json:"currency"`
}

func (s *Shop) checkout(ctx context.Context, tenant string, a checkoutArgs) (json.RawMessage, error) {
	key := a.Key
	a.Key = ""
	return s.writes.do(ctx, &write{
		tenant: tenant, tool: "create_checkout_session", key: key, fingerprint: fingerprint(a),
		plan: func(ctx context.Context, tx *sql.Tx) (plan, error) {
			g, err := giftForSale(ctx, tx, a.GiftID)
			return plan{GiftID: g.ID, Cents: g.PriceCents}, err
		},
		act:    s.payOnce("checkout"),
		record: recordSession,
	})
}

func recordSession(ctx context.Context, tx *sql.Tx, op operation, charges []string) (any, error) {
	out := session{OK: true, SessionID: op.name("cs"), GiftID: op.plan.GiftID, AmountCents: op.plan.Cents, Currency: currency}
	return out, exec(ctx, tx, `insert into checkout_sessions (id, tenant, gift_id, amount_cents, charge_id) values (?, ?, ?, ?, ?)`,
		out.SessionID, op.tenant, out.GiftID, out.AmountCents, charges[0])
}

// giftForSale finds a gift that can be bought.
func giftForSale(ctx context.Context, tx *sql.Tx, id string) (gift, error) {
	const query = `select id, name, description, price_cents, discontinued from gifts where id = ?`
	g, discontinued := gift{Currency: currency}, false
	err := tx.QueryRowContext(ctx, query, id).Scan(&g.ID, &g.Name, &g.Description, &g.PriceCents, &discontinued)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return gift{}, &Error{
			Code: CodeNotFound, Message: fmt.Sprintf("there is no gift %q; suggest_gifts gives the ids", id),
			Detail: fmt.Errorf("%s: %w", query, err),
		}
	case err != nil:
		return gift{}, err
	case discontinued:
		return gift{}, refusal(CodeDiscontinued, "%s is no longer made; suggest_gifts finds another gift", g.Name)
	}
	return g, nil
}
