package giftgenius

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Handler names the way in which writes are made.
type Handler string

// The handlers.
const (
	Sound Handler = "sound"
	Naive Handler = "naive"
)

// Options say how a shop is opened.
type Options struct {
	File       string  // the SQLite file; it is made when it is not there
	Handler    Handler // "": Sound
	Mistakes   []Mistake
	DailyLimit int // suggestions a day for each tenant
	Hooks      Hooks
	Log        *slog.Logger // details that no model sees; nil: nowhere
}

// Shop is the shop without a protocol. It may be called by many goroutines.
type Shop struct {
	store    *store
	provider *provider
	writes   handler
	hold     func(Point)
	meter    meter
	mistakes mistakes
	tools    []*Tool
	now      func() time.Time
	log      *slog.Logger
}

// Open opens the shop's file. What other processes have left there unfinished is
// gone on with when its key comes again.
func Open(ctx context.Context, o Options) (*Shop, error) {
	planted, err := newMistakes(o.Mistakes)
	if err != nil {
		return nil, err
	}
	s := &Shop{
		hold: (&holder{hooks: o.Hooks}).at, mistakes: planted, meter: meter{limit: o.DailyLimit},
		now: func() time.Time { return time.Now().Add(o.Hooks.ClockOffset) },
		log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
	}
	if s.store, err = openStore(ctx, o.File); err != nil {
		return nil, err
	}
	s.provider = &provider{books: s.store, now: s.now, hooks: o.Hooks}
	if s.writes, err = s.handler(ctx, o.Handler); err == nil {
		s.tools, err = s.declare()
	}
	if err != nil {
		_ = s.store.db.Close() // the first error tells more
		return nil, err
	}
	return s, nil
}

// Close closes the file.
func (s *Shop) Close() error { return s.store.db.Close() }

func (s *Shop) handler(ctx context.Context, h Handler) (handler, error) {
	if s.mistakes[NonIdempotentWrites] {
		return &careless{store: s.store, hold: s.hold}, nil
	}
	switch cmp.Or(h, Sound) {
	case Sound:
		epoch, err := s.store.begin(ctx, s.now())
		return &sound{store: s.store, epoch: epoch, now: s.now, hold: s.hold}, err
	case Naive:
		return &naive{store: s.store, now: s.now, hold: s.hold}, nil
	default:
		return nil, fmt.Errorf("unknown handler %q; known are %q and %q", h, Sound, Naive)
	}
}

// Reply is a tool's answer as it goes to the model.
type Reply struct {
	Text    string // JSON, {"ok":…}
	IsError bool
}

// Call calls a tool for a tenant. Whatever happens, the answer is a Reply.
func (s *Shop) Call(ctx context.Context, tenant string, t *Tool, args json.RawMessage) Reply {
	result, err := s.run(ctx, tenant, t, args)
	if err != nil {
		e := asError(err)
		s.log.WarnContext(ctx, "call refused", "tool", t.Name, "code", e.Code, "message", e.Message, "detail", e.Detail)
		return s.mistakes.spoil(Reply{Text: string(e.body()), IsError: true}, e, s)
	}
	return Reply{Text: string(result)}
}

func (s *Shop) run(ctx context.Context, tenant string, t *Tool, args json.RawMessage) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	args, err = t.check(args)
	if err != nil {
		return nil, err
	}
	return t.call(ctx, tenant, args)
}

// pay has one charge made for an operation; part tells several of one operation
// apart.
func (s *Shop) pay(ctx context.Context, op operation, part string, c charge) (id string, err error) {
	key := op.providerKey
	if key != "" {
		key += part
	}
	if op.takenOver {
		id, found, err := s.provider.find(ctx, key)
		if err != nil || found {
			return id, err
		}
	}
	id, err = s.provider.charge(ctx, key, c)
	if err == nil {
		s.hold(AfterEffect)
	}
	return id, err
}

// payOnce is the act of a write with one charge.
func (s *Shop) payOnce(purpose string) func(ctx context.Context, op operation) ([]string, error) {
	return func(ctx context.Context, op operation) ([]string, error) {
		id, err := s.pay(ctx, op, "", charge{tenant: op.tenant, purpose: purpose, cents: op.plan.Cents})
		return []string{id}, err
	}
}
