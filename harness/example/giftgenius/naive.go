package giftgenius

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// naive is the handler that most tutorials show, kept as a specimen: look the key
// up, act, insert. Repeats one after the other are answered from the table, so a
// first test of it passes. Two calls at once both find nothing and both act; a
// process that dies between act and insert leaves a charge that nobody knows of,
// and since the provider is given no key, the next call charges again.
type naive struct {
	store   *store
	now     func() time.Time
	hold    func(Point)
	barrier barrier
}

func (n *naive) do(ctx context.Context, w *write) (json.RawMessage, error) {
	n.hold(BeforeReserve)
	p, stored, err := n.lookUp(ctx, w)
	if err != nil || stored != nil {
		return stored, err
	}
	n.barrier.meet(w.tenant + "\x00" + w.tool + "\x00" + w.key)
	n.hold(AfterReserve)
	op := operation{id: rand.Text(), tenant: w.tenant, plan: p}
	var charges []string
	if w.act == nil {
		n.hold(AfterEffect)
	} else if charges, err = w.act(ctx, op); err != nil {
		return nil, err
	}
	result, err := n.insert(ctx, w, op, charges)
	if err == nil {
		n.hold(AfterRecord)
	}
	return result, err
}

func (n *naive) lookUp(ctx context.Context, w *write) (p plan, stored json.RawMessage, err error) {
	err = n.store.tx(ctx, func(tx *sql.Tx) error {
		known, result, at := "", "", int64(0)
		err := tx.QueryRowContext(ctx, `select fingerprint, result, at from idempotency where tenant = ? and tool = ? and key = ?`,
			w.tenant, w.tool, w.key).Scan(&known, &result, &at)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && n.now().Sub(time.UnixMilli(at)) >= KeyLife:
			p, err = w.plan(ctx, tx)
			return err
		case err != nil:
			return err
		case known != w.fingerprint:
			return refusal(CodeKeyReused, "the idempotency_key %q was used with other arguments; take a new key for another operation", w.key)
		}
		stored = json.RawMessage(result)
		return nil
	})
	return p, stored, err
}

func (n *naive) insert(ctx context.Context, w *write, op operation, charges []string) (text json.RawMessage, err error) {
	err = n.store.tx(ctx, func(tx *sql.Tx) error {
		text, err = recordUnheld(ctx, tx, w, op, charges)
		if err != nil {
			return err
		}
		return exec(ctx, tx, `insert or replace into idempotency (tenant, tool, key, fingerprint, state, generation, plan, result, epoch, at)
			values (?, ?, ?, ?, 'done', 0, '{}', ?, 0, ?)`,
			w.tenant, w.tool, w.key, w.fingerprint, string(text), n.now().UnixMilli())
	})
	return text, err
}

// recordUnheld records a write that has claimed nothing before.
func recordUnheld(ctx context.Context, tx *sql.Tx, w *write, op operation, charges []string) (json.RawMessage, error) {
	if w.claim != nil {
		if err := w.claim(ctx, tx, op); err != nil {
			return nil, err
		}
	}
	result, err := w.record(ctx, tx, op, charges)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// barrierWait is how long a call waits for a second one.
const barrierWait = 200 * time.Millisecond

// barrier makes the race between look-up and act show each time: a call waits
// there until a second one has looked up too, or some time is over.
type barrier struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // closed when a second call comes
}

func (b *barrier) meet(key string) {
	first, opened := b.arrive(key)
	if opened {
		return
	}
	timer := time.NewTimer(barrierWait)
	defer timer.Stop()
	select {
	case <-first:
	case <-timer.C:
		b.giveUp(key, first)
	}
}

func (b *barrier) arrive(key string) (first chan struct{}, opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first, ok := b.waiting[key]; ok {
		delete(b.waiting, key)
		close(first)
		return first, true
	}
	if b.waiting == nil {
		b.waiting = map[string]chan struct{}{}
	}
	first = make(chan struct{})
	b.waiting[key] = first
	return first, false
}

func (b *barrier) giveUp(key string, first chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[key] == first {
		delete(b.waiting, key)
	}
}
