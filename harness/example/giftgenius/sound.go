package giftgenius

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// How long promises last.
const (
	KeyLife = 24 * time.Hour   // from the first result on
	Lease   = 30 * time.Second // of a reservation, against servers that started before its holder
	Wait    = 5 * time.Second  // of a call for another one under the same key
)

// sound is the handler that keeps the promises of the package's documentation.
type sound struct {
	store   *store
	epoch   int64
	now     func() time.Time
	hold    func(Point)
	flights flights
}

func (s *sound) do(ctx context.Context, w *write) (json.RawMessage, error) {
	leave, err := s.flights.enter(ctx, w.tenant+"\x00"+w.tool+"\x00"+w.key)
	if err != nil {
		return nil, err
	}
	defer leave()
	// From here on a client that goes away stops nothing: half a write is worse
	// than one whose answer nobody hears.
	ctx = context.WithoutCancel(ctx)
	s.hold(BeforeReserve)
	op, stored, err := s.reserve(ctx, w)
	if err != nil || stored != nil {
		return stored, err
	}
	s.hold(AfterReserve)
	var charges []string
	if w.act == nil {
		s.hold(AfterEffect)
	} else if charges, err = w.act(ctx, op); err != nil {
		return nil, errors.Join(err, s.free(ctx, w))
	}
	result, err := s.record(ctx, w, op, charges)
	if err == nil {
		s.hold(AfterRecord)
	}
	return result, err
}

// row is what is known of a key.
type row struct {
	fingerprint, state string
	generation         int
	plan               string
	result             sql.NullString
	epoch, at          int64
}

func (s *sound) look(ctx context.Context, tx *sql.Tx, w *write) (r row, found bool, err error) {
	err = tx.QueryRowContext(ctx, `select fingerprint, state, generation, plan, result, epoch, at
		from idempotency where tenant = ? and tool = ? and key = ?`, w.tenant, w.tool, w.key).
		Scan(&r.fingerprint, &r.state, &r.generation, &r.plan, &r.result, &r.epoch, &r.at)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, err
}

// reserve is the first step: the key is ours, or its result is there.
func (s *sound) reserve(ctx context.Context, w *write) (op operation, stored json.RawMessage, err error) {
	err = s.store.tx(ctx, func(tx *sql.Tx) error {
		r, found, err := s.look(ctx, tx, w)
		if err != nil {
			return err
		}
		age := s.now().Sub(time.UnixMilli(r.at))
		switch {
		case !found || r.state == "done" && age >= KeyLife:
			op, err = s.begin(ctx, tx, w, r.generation+1)
			return err
		case r.fingerprint != w.fingerprint:
			return refusal(CodeKeyReused, "the idempotency_key %q was used with other arguments; take a new key for another operation", w.key)
		case r.state == "done":
			stored = json.RawMessage(r.result.String)
			return nil
		case r.epoch > s.epoch && age < Lease:
			return errInUse()
		}
		op, err = s.takeOver(ctx, tx, w, r)
		return err
	})
	return op, stored, err
}

func (s *sound) begin(ctx context.Context, tx *sql.Tx, w *write, generation int) (operation, error) {
	p, err := w.plan(ctx, tx)
	if err != nil {
		return operation{}, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return operation{}, err
	}
	op := newOperation(w, generation, p)
	if w.claim != nil {
		if err := w.claim(ctx, tx, op); err != nil {
			return operation{}, err
		}
	}
	return op, exec(ctx, tx, `insert or replace into idempotency (tenant, tool, key, fingerprint, state, generation, plan, epoch, at)
		values (?, ?, ?, ?, 'reserved', ?, ?, ?, ?)`,
		w.tenant, w.tool, w.key, w.fingerprint, generation, string(text), s.epoch, s.now().UnixMilli())
}

// takeOver goes on with what another call, or another process, has begun, by the
// plan of then: what was allowed and priced is not judged again.
func (s *sound) takeOver(ctx context.Context, tx *sql.Tx, w *write, r row) (operation, error) {
	var p plan
	if err := json.Unmarshal([]byte(r.plan), &p); err != nil {
		return operation{}, err
	}
	op := newOperation(w, r.generation, p)
	op.takenOver = true
	return op, exec(ctx, tx, `update idempotency set epoch = ?, at = ? where tenant = ? and tool = ? and key = ?`,
		s.epoch, s.now().UnixMilli(), w.tenant, w.tool, w.key)
}

// newOperation derives the operation's id from what it is, so that whoever goes
// on with it has the same.
func newOperation(w *write, generation int, p plan) operation {
	id := digest(w.tenant, w.tool, w.key, strconv.Itoa(generation))
	return operation{id: id, providerKey: "op_" + id, tenant: w.tenant, plan: p}
}

// record is the last step. Where another process has taken over, whoever comes
// first records for both: they act on the same operation, by the same plan.
func (s *sound) record(ctx context.Context, w *write, op operation, charges []string) (json.RawMessage, error) {
	var text json.RawMessage
	err := s.store.tx(ctx, func(tx *sql.Tx) error {
		r, _, err := s.look(ctx, tx, w)
		if err != nil {
			return err
		}
		if r.state == "done" {
			text = json.RawMessage(r.result.String)
			return nil
		}
		result, err := w.record(ctx, tx, op, charges)
		if err != nil {
			return err
		}
		if text, err = json.Marshal(result); err != nil {
			return err
		}
		return exec(ctx, tx, `update idempotency set state = 'done', result = ?, epoch = 0, at = ? where tenant = ? and tool = ? and key = ?`,
			string(text), s.now().UnixMilli(), w.tenant, w.tool, w.key)
	})
	return text, err
}

// free lets go of the reservation after an error of the provider. The row stays:
// nobody knows for certain that nothing happened, and the next call is to ask
// under the same operation's id.
func (s *sound) free(ctx context.Context, w *write) error {
	return s.store.tx(ctx, func(tx *sql.Tx) error {
		return exec(ctx, tx, `update idempotency set epoch = 0 where tenant = ? and tool = ? and key = ? and state = 'reserved' and epoch = ?`,
			w.tenant, w.tool, w.key, s.epoch)
	})
}

func errInUse() *Error {
	return &Error{Code: CodeKeyInUse, Message: "another call with this idempotency_key is under way; repeat this one later, unchanged", Retryable: true}
}

// flights lets one call at a time through for each key.
type flights struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // closed when the call is over
}

// enter waits for its turn, at most Wait.
func (f *flights) enter(ctx context.Context, key string) (leave func(), err error) {
	timer := time.NewTimer(Wait)
	defer timer.Stop()
	for {
		over, free := f.try(key)
		if free {
			return func() { f.leave(key, over) }, nil
		}
		select {
		case <-over:
		case <-timer.C:
			return nil, errInUse()
		case <-ctx.Done():
			return nil, errInUse()
		}
	}
}

func (f *flights) try(key string) (over chan struct{}, free bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if over, ok := f.busy[key]; ok {
		return over, false
	}
	if f.busy == nil {
		f.busy = map[string]chan struct{}{}
	}
	over = make(chan struct{})
	f.busy[key] = over
	return over, true
}

func (f *flights) leave(key string, over chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, key)
	close(over)
}
