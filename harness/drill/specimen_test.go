package drill_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/clock"
	"github.com/retake-harness/retake/harness/drill"
	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/jsondoc"
	"github.com/retake-harness/retake/harness/tool"
)

// specimen is a shop in memory that sells gifts. It is sound, but for its
// mistakes. What it keeps outlives its instances, and an instance that is killed
// does nothing any more: each write asks whether it is alive, under one lock.
type specimen struct {
	mistakes []string
	can      drill.Abilities
	worlds   atomic.Int32
}

func shop(mistakes ...string) *specimen {
	return &specimen{mistakes: mistakes, can: drill.Abilities{
		Restart: true, Kill: true, Points: drill.Points(), Clock: true, Fail: []string{"payments"}, Together: true, Entrance: true,
		Principals: []string{"ann", "bob"},
	}}
}

func (s *specimen) Can() drill.Abilities { return s.can }

func (s *specimen) World(context.Context) (drill.World, error) {
	s.worlds.Add(1)
	return &state{specimen: s, keys: map[string]*record{}, drafts: map[string]*draft{}, waiting: make(chan struct{})}, nil
}

// state is what a database would keep.
type state struct {
	*specimen
	mu      sync.Mutex
	keys    map[string]*record
	orders  []order
	drafts  map[string]*draft
	waiters int
	waiting chan struct{} // closed when two calls are between look-up and act
	opens   int
	ended   bool // an instance, in whatever way
}

type record struct {
	mark   string
	done   bool
	result tool.Result
	at     time.Duration
	again  int // replays of a batch
}

type order struct{ id, owner, op string }

type draft struct {
	id, owner, gift string
	at              time.Duration
	done            *tool.Result
}

func (s *state) makes(mistake string) bool { return slices.Contains(s.mistakes, mistake) }

func (s *state) Open(_ context.Context, start drill.Start) (drill.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.makes("does not start again") && s.ended {
		return nil, failure.Errorf(failure.World, "the state is in disorder")
	}
	if s.makes("does not start without payments") && start.Fail != "" {
		return nil, failure.Errorf(failure.World, "no payments")
	}
	if s.opens++; s.makes("forgets at restart") {
		s.keys = map[string]*record{}
	}
	if start.Principal == "" {
		start.Principal = "ann"
	}
	return &instance{state: s, start: start, held: make(chan struct{}), dead: make(chan struct{}), double: make(chan struct{}), nr: s.opens}, nil
}

func (s *state) Close() {}

func (s *state) Knock(context.Context, drill.Token) (int, error) {
	if s.makes("open door") {
		return http.StatusOK, nil
	}
	return http.StatusUnauthorized, nil
}

type instance struct {
	*state
	start drill.Start
	held  chan struct{}
	dead  chan struct{}
	once  sync.Once
	end   sync.Once

	inside  int // calls at work
	doubled sync.Once
	double  chan struct{} // closed when there are two
	nr      int           // the how-manieth instance on its state
}

func (i *instance) Held() <-chan struct{} { return i.held }
func (i *instance) Close()                { i.Kill() }

func (i *instance) Kill() {
	i.mu.Lock() // nothing is half written when it is dead
	defer i.mu.Unlock()
	i.ended = true
	i.end.Do(func() { close(i.dead) })
}

func (i *instance) alive() bool {
	select {
	case <-i.dead:
		return false
	default:
		return true
	}
}

func (i *instance) Count(context.Context) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.orders), nil
}

var errKilled = &tool.Error{Code: tool.CodeUpstream, Message: "the tool broke off"}

// at stands still where it was told to; false says that it was killed there.
func (i *instance) at(p drill.Point) bool {
	if i.start.HoldAt != p {
		return i.alive()
	}
	i.once.Do(func() { close(i.held) })
	<-i.dead
	return false
}

func refuse(code, format string, args ...any) tool.Result {
	return tool.Result{Err: &tool.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

func fine(format string, args ...any) tool.Result {
	return tool.Result{Content: fmt.Sprintf(format, args...)}
}

type arguments struct {
	Gift     string   `json:"gift"`
	Quantity int      `json:"quantity"`
	Note     string   `json:"note"`
	Key      *string  `json:"key"`
	Draft    string   `json:"draft"`
	Items    []string `json:"items"`
	Order    string   `json:"order"`
}

func (i *instance) Execute(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a arguments
	if json.Unmarshal(c.Args, &a, json.RejectUnknownMembers(true)) != nil {
		return refuse(tool.CodeValidation, "no such arguments"), nil //nolint:nilerr // it is the tool's answer
	}
	switch c.Tool {
	case "buy":
		return i.buy(ctx, c, a), nil
	case "wrap":
		return i.keyed(ctx, c, a, func(op string) tool.Result { return fine(`{"wrapped":%q}`, a.Gift) }), nil
	case "orders", "order":
		return i.list(c.Tool, a), nil
	case "prepare":
		return i.prepare(a), nil
	case "commit":
		return i.commit(ctx, c, a), nil
	}
	return refuse(tool.CodeUnknownTool, "no tool %s", c.Tool), nil
}

func (i *instance) buy(ctx context.Context, c tool.Call, a arguments) tool.Result {
	valid := slices.Contains([]string{"mug", "book", "lamp"}, a.Gift) && a.Quantity > 0 || len(a.Items) > 0
	if !valid && i.makes("acts, then validates") {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.place("invalid")
		return refuse(tool.CodeValidation, "gift or quantity")
	}
	if !valid && !i.makes("burns keys") {
		return refuse(tool.CodeValidation, "gift or quantity")
	}
	return i.keyed(ctx, c, a, func(op string) tool.Result {
		switch {
		case !valid:
			return refuse(tool.CodeValidation, "gift or quantity")
		case len(a.Items) > 0:
			return i.several(op, a)
		case i.start.Fail == "payments":
			return refuse("PAYMENT_PROVIDER_ERROR", "try later")
		}
		return i.place(op)
	})
}

// place makes the effect. The lock is held.
func (i *instance) place(op string) tool.Result {
	n := fmt.Sprint("order-", len(i.orders)+1)
	i.orders = append(i.orders, order{n, i.start.Principal, op})
	return fine(`{"ok":true,"order":%q}`, n)
}

// several is a batch, of which the last item fails when payments are broken.
func (i *instance) several(op string, a arguments) tool.Result {
	for n := range a.Items {
		of := fmt.Sprint(op, "/", n)
		if slices.ContainsFunc(i.orders, func(o order) bool { return o.op == of }) && !i.makes("redoes batches") {
			continue
		}
		if i.start.Fail == "payments" && i.makes("does nothing of a broken batch") {
			return refuse("PAYMENT_PROVIDER_ERROR", "nothing done")
		}
		if i.start.Fail == "payments" && n == len(a.Items)-1 {
			return refuse("PAYMENT_PROVIDER_ERROR", "partly done")
		}
		i.place(of)
	}
	return fine(`{"ok":true,"done":%d}`, len(a.Items))
}

// keyed does act once for a key.
func (i *instance) keyed(ctx context.Context, c tool.Call, a arguments, act func(op string) tool.Result) tool.Result {
	if !i.at(drill.BeforeReserve) {
		return tool.Result{Err: errKilled}
	}
	key, bad := i.key(a)
	if bad != nil {
		return tool.Result{Err: bad}
	}
	op := i.scope(c.Tool) + key
	mark := i.fingerprint(c.Args)
	if i.makes("shares keys") {
		mark = c.Tool + mark
	}
	if i.makes("hangs") {
		defer i.leave()
		if i.second() {
			<-ctx.Done()
			return tool.Result{Err: errKilled}
		}
		wait(i.double)
	}
	if i.makes("looks away") {
		i.mu.Lock()
		defer i.mu.Unlock()
		return act(op)
	}
	if i.makes("looks up, acts, inserts") {
		return i.naive(op, mark, act)
	}
	if r, found := i.reserve(op, mark); found {
		return r
	}
	if !i.at(drill.AfterReserve) {
		return tool.Result{Err: errKilled}
	}
	return i.finish(op, act)
}

func (i *instance) key(a arguments) (string, *tool.Error) {
	bad := &tool.Error{Code: tool.CodeValidation, Message: "the key"}
	switch {
	case a.Key == nil && i.makes("invents keys"):
		i.mu.Lock()
		defer i.mu.Unlock()
		return fmt.Sprint("own-", len(i.keys)), nil
	case a.Key == nil:
		return "", bad
	case i.makes("cuts keys") && len(*a.Key) > 20:
		return (*a.Key)[:20], nil
	case i.makes("takes any key"):
		return *a.Key, nil
	case *a.Key == "" || len(*a.Key) > 40:
		return "", bad
	}
	return *a.Key, nil
}

func (i *instance) scope(name string) string {
	switch {
	case i.makes("mixes tenants"):
		return name + "/"
	case i.makes("mixes tools"), i.makes("shares keys"):
		return i.start.Principal + "/"
	}
	return i.start.Principal + "/" + name + "/"
}

// fingerprint is of the arguments without the key and the note.
func (i *instance) fingerprint(args jsontext.Value) string {
	switch {
	case i.makes("has no fingerprint"):
		return "none"
	case i.makes("hashes the text"):
		return string(args)
	case i.makes("forgets the quantity"):
		args, _ = jsondoc.Remove(nil, args, pointers("/quantity"))
	case i.makes("sees the note"):
		return jsondoc.Hash(args)
	}
	rest, _ := jsondoc.Remove(nil, args, pointers("/key", "/note"))
	return jsondoc.Hash(rest)
}

func pointers(texts ...string) []jsondoc.Pointer {
	out, err := jsondoc.ParsePointers(texts)
	if err != nil {
		panic(err)
	}
	return out
}

const (
	keyLife  = 24 * time.Hour
	lockLife = 5 * time.Minute
	inFlight = "CONFLICT"
)

// second tells whether another call is at work.
func (i *instance) second() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.inside++; i.inside == 2 {
		i.doubled.Do(func() { close(i.double) })
	}
	return i.inside > 1
}

func (i *instance) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.inside--
}

// reserve takes the key, or says what is to be answered.
func (i *instance) reserve(op, mark string) (tool.Result, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.alive() {
		return tool.Result{Err: errKilled}, true
	}
	r := i.keys[op]
	now := i.start.ClockOffset
	life := keyLife
	if i.makes("forgets early") {
		life = time.Hour
	}
	switch {
	case i.makes("refuses new keys after a restart") && i.nr > 1 && r == nil:
		return refuse("RECOVERING", "later"), true
	case i.makes("refuses old keys after a restart") && i.nr > 1 && r != nil && r.done:
		return refuse("ALREADY_DONE", "it is done"), true
	case i.makes("refuses early") && r != nil && r.done && now-r.at > keyLife*8/10:
		return refuse("EXPIRED", "too old"), true
	case i.makes("acts on a stored error") && r != nil && r.done && r.result.Err != nil:
		i.place("again")
		return r.result, true
	case i.makes("tells another error later") && r != nil && r.done && r.result.Err != nil:
		return refuse("OTHER", "it failed"), true
	case i.makes("acts at the third of a batch") && r != nil && r.done && strings.Contains(r.result.Content, "done"):
		if r.again++; r.again == 1 {
			i.place("again")
		}
		return r.result, true
	case i.makes("commits again under the same key") && r != nil && r.done && strings.Contains(op, "commit"):
		i.place("again")
		return r.result, true
	case r == nil || r.done && now-r.at > life && !i.makes("never expires") || r.mark == "":
	case r.mark != mark && i.makes("overwrites"):
	case r.mark != mark && i.makes("answers other payloads"):
		return r.result, true
	case r.mark != mark:
		return refuse("KEY_REUSED", "other arguments"), true
	case r.done && i.makes("answers anew"):
		return fine(`{"ok":true,"order":"order-%d","again":true}`, len(i.orders)), true
	case r.done:
		return r.result, true
	case now-r.at < lockLife || i.makes("locks for ever"):
		if i.makes("refuses old locks") && now-r.at > lockLife {
			return refuse("FAILED", "it failed"), true
		}
		return refuse(inFlight, "at work"), true
	}
	i.keys[op] = &record{mark: mark, at: now}
	return tool.Result{}, false
}

// finish makes the effect and stores the result, in one step.
func (i *instance) finish(op string, act func(string) tool.Result) tool.Result {
	if i.makes("two transactions") {
		return i.apart(op, act)
	}
	if !i.at(drill.AfterEffect) { // what is not committed is not there
		return tool.Result{Err: errKilled}
	}
	i.mu.Lock()
	if !i.alive() {
		i.mu.Unlock()
		return tool.Result{Err: errKilled}
	}
	r := act(op)
	i.store(op, r)
	i.mu.Unlock()
	if !i.at(drill.AfterRecord) {
		return tool.Result{Err: errKilled}
	}
	return r
}

// apart makes the effect, then stores the result; a crash between leaves a
// reservation that is given up at once.
func (i *instance) apart(op string, act func(string) tool.Result) tool.Result {
	i.mu.Lock()
	r := act(op)
	mark := i.keys[op].mark
	delete(i.keys, op)
	i.mu.Unlock()
	if i.makes("slow after the effect") && i.nr == 1 && i.worlds.Load() > 1 { // the first world is the example's
		<-i.dead
	}
	if !i.at(drill.AfterEffect) {
		return tool.Result{Err: errKilled}
	}
	i.mu.Lock()
	i.keys[op] = &record{mark: mark, at: i.start.ClockOffset}
	i.store(op, r)
	i.mu.Unlock()
	if !i.at(drill.AfterRecord) {
		return tool.Result{Err: errKilled}
	}
	return r
}

// store keeps a result, and lets the key of a failed call go. The lock is held.
func (i *instance) store(op string, r tool.Result) {
	if r.Err != nil && !i.makes("burns keys") && !i.makes("stores errors") {
		delete(i.keys, op)
		return
	}
	i.keys[op].done, i.keys[op].result = true, r
}

// naive is the form that most tutorials show. It waits between look-up and act
// until another one is there too, so that its race is shown each time.
func (i *instance) naive(op, mark string, act func(string) tool.Result) tool.Result {
	i.mu.Lock()
	r := i.keys[op]
	i.mu.Unlock()
	switch {
	case r != nil && r.mark != mark:
		return refuse("KEY_REUSED", "other arguments")
	case r != nil:
		return r.result
	}
	i.meet()
	i.mu.Lock()
	res := act(op)
	i.mu.Unlock()
	if !i.at(drill.AfterEffect) {
		return tool.Result{Err: errKilled}
	}
	if res.Err == nil {
		i.mu.Lock()
		i.keys[op] = &record{mark: mark, done: true, result: res}
		i.mu.Unlock()
	}
	if !i.at(drill.AfterRecord) {
		return tool.Result{Err: errKilled}
	}
	return res
}

// meet waits for a second call, for a moment.
func (i *instance) meet() {
	i.mu.Lock()
	if i.waiters++; i.waiters == 2 {
		close(i.waiting)
	}
	i.mu.Unlock()
	wait(i.waiting)
}

// wait waits for a moment at most.
func wait(what <-chan struct{}) {
	limited, cancel := clock.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	select {
	case <-what:
	case <-limited.Done():
	}
}

func (i *instance) list(name string, a arguments) tool.Result {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.makes("reads that write") {
		i.place("read")
	}
	mine := []string{}
	for _, o := range i.orders {
		if o.owner == i.start.Principal || i.makes("shows all") {
			mine = append(mine, o.id)
		}
	}
	if name == "order" {
		if !slices.Contains(mine, a.Order) {
			return refuse("NOT_FOUND", "no such order")
		}
		return fine(`{"order":%q}`, a.Order)
	}
	b, _ := json.Marshal(mine)
	return fine(`{"orders":%s}`, b)
}

func (i *instance) prepare(a arguments) tool.Result {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.makes("orders when asked to prepare") {
		i.place("prepare")
	}
	id := fmt.Sprint("draft-", len(i.drafts)+1)
	if a.Key != nil && !i.makes("two drafts") {
		id = "draft-of-" + i.start.Principal + "-" + *a.Key
	}
	if i.drafts[id] == nil {
		i.drafts[id] = &draft{id: id, owner: i.start.Principal, gift: a.Gift, at: i.start.ClockOffset}
	}
	return fine(`{"draft":{"id":%q}}`, id)
}

const draftLife = time.Hour

func (i *instance) commit(ctx context.Context, c tool.Call, a arguments) tool.Result {
	return i.keyed(ctx, c, a, func(op string) tool.Result {
		d := i.drafts[a.Draft]
		switch {
		case d == nil && i.makes("commits anything"):
			return i.place(op)
		case d == nil, d.owner != i.start.Principal && !i.makes("commits for others"):
			return refuse("NO_DRAFT", "no such draft")
		case a.Gift != "" && a.Gift != d.gift && i.makes("charges what it refuses"):
			i.place(op)
			return refuse("CHANGED", "not what was prepared")
		case a.Gift != "" && a.Gift != d.gift && !i.makes("commits changes"):
			return refuse("CHANGED", "not what was prepared")
		case i.start.ClockOffset-d.at > draftLife && !i.makes("drafts for ever"):
			return refuse("EXPIRED", "too late")
		case d.done != nil && !i.makes("commits twice"):
			return *d.done
		}
		r := i.place(op)
		d.done = &r
		return r
	})
}
