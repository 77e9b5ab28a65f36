package giftgenius

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
)

type card struct {
	Recipient   string `json:"recipient"`
	AmountCents int    `json:"amount_cents"`
}

type cardsArgs struct {
	Cards []card `json:"cards"`
	Key   string `json:"idempotency_key"`
}

type sentCard struct {
	Item   int    `json:"item"`
	CardID string `json:"card_id"`
}

type sentCards struct {
	OK     bool       `json:"ok"`
	Sent   []sentCard `json:"sent"`
	Failed []int      `json:"failed"`
}

// sendCards is a write of several effects under one key. Each card is charged
// under a key of its own and written down at once, so that a call that goes on
// does only what is not done.
func (s *Shop) sendCards(ctx context.Context, tenant string, a cardsArgs) (json.RawMessage, error) {
	key := a.Key
	a.Key = ""
	return s.writes.do(ctx, &write{
		tenant: tenant, tool: "send_gift_cards", key: key, fingerprint: fingerprint(a),
		plan:   func(context.Context, *sql.Tx) (plan, error) { return plan{Cards: a.Cards}, nil },
		act:    s.sendEach,
		record: func(_ context.Context, _ *sql.Tx, op operation, _ []string) (any, error) { return sentOf(op, nil), nil },
	})
}

func (s *Shop) sendEach(ctx context.Context, op operation) ([]string, error) {
	var failed []int
	var first error
	for i, c := range op.plan.Cards {
		if err := s.sendOne(ctx, op, i, c); err != nil {
			failed = append(failed, i)
			if first == nil {
				first = err
			}
		}
	}
	switch len(failed) {
	case 0:
		return nil, nil
	case len(op.plan.Cards):
		return nil, first
	}
	sent := sentOf(op, failed)
	return nil, &Error{
		Code: CodePartly, Message: "some cards were not sent; repeat the call unchanged, with the same idempotency_key: only those are tried again",
		Retryable: true, Detail: first, Part: &sent,
	}
}

// sendOne charges a card and writes it down, unless both has been done.
func (s *Shop) sendOne(ctx context.Context, op operation, item int, c card) error {
	id, err := s.pay(ctx, op, "-"+strconv.Itoa(item), charge{tenant: op.tenant, purpose: "gift_card", cents: c.AmountCents})
	if err != nil {
		return err
	}
	return s.store.tx(ctx, func(tx *sql.Tx) error {
		return exec(ctx, tx, `insert or ignore into sent_cards (operation, item, tenant, recipient, amount_cents, charge_id) values (?, ?, ?, ?, ?, ?)`,
			op.id, item, op.tenant, c.Recipient, c.AmountCents, id)
	})
}

// sentOf says which cards of an operation are sent: all but the failed ones.
func sentOf(op operation, failed []int) sentCards {
	out := sentCards{OK: true, Sent: []sentCard{}, Failed: []int{}}
	out.Failed = append(out.Failed, failed...)
	missed := map[int]bool{}
	for _, i := range failed {
		missed[i] = true
	}
	for i := range op.plan.Cards {
		if !missed[i] {
			out.Sent = append(out.Sent, sentCard{Item: i, CardID: op.name("card") + "-" + strconv.Itoa(i)})
		}
	}
	return out
}
