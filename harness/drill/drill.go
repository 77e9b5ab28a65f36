// Package drill tries a tool that writes for idempotency: it repeats calls, runs
// them at once, loses answers, kills the process between two steps of a write,
// and counts in the world itself what came of it.
//
// What a tool promises is declared in a Spec, where trusted systems differ; the
// drill finds out whether it is so. Each invariant (I1 to I22, and T1 to T4 of
// tenants) is a row of the Report, some in more than one form. A row is
//
//   - held,
//   - breached, with the sequence of calls that shows it and what to do,
//   - a warning: as declared, and a hazard all the same,
//   - not applicable, with the reason.
//
// Every figure is counted by the target's probe, before and after. Each row has a
// World of its own, so that none finds what another has left.
//
// # Crashes are real
//
// The process is killed with all that it has started, and another is started on the
// same state. Where the server declares points it is killed exactly there; else as
// soon as the probe shows the effect, and its answer is passed on to nobody. After a
// crash the call is made again, twice, and twice more when its reservation is over
// (policies.lock, where the clock can be moved). What breaks the invariant is a
// second effect, whichever call makes it, an ok without an effect, a call that nobody
// answers, and, with the effect there, an error that claims that it is not.
//
// A claim is each error but those that leave the outcome open, which are
//
//   - one that is retryable, or that tells of a broken connection or a timeout,
//   - one whose code has CONFLICT, IN_USE, IN_PROGRESS, 409, IN_DOUBT, PENDING, RECONCIL
//     or OUTCOME_UNKNOWN in it, or is UNKNOWN,
//   - one whose code is declared under in_doubt.
//
// So a validation error, PAYMENT_FAILED and a database's own text are claims. The
// words of a message count for nothing.
//
// # Hooks
//
// A server makes more rows possible by three variables of its environment, which it
// reads when it starts, and which a drill file declares under hooks:
//
//   - RETAKE_HOLD_AT=before_reserve, after_reserve, after_effect or after_record: the
//     first write that comes to the point writes the line "retake: held at" with the
//     point's name to standard error, and stands still until the process is killed.
//   - RETAKE_CLOCK_OFFSET=25h: its clock is so much later, for the expiry of keys,
//     reservations and drafts.
//   - RETAKE_FAIL=payment: what it depends on under that name is broken.
//
// They are for tests: a server in production leaves them alone.
//
// # Rows
//
// I1 repeats, I2 at the same time (in one process, and in two), I3 a lost answer, I4
// a lost call, I5 another payload, I6 the fingerprint, I7 no key, I8 two that are
// meant, I9 a restart, I10 crashes, I11 a refusal does not burn the key, I12 errors,
// I13 expiry, I14 another tool and another tenant, I15 the host's key, I16 the key's
// format, I17 drafts, I18 a reservation that nobody finishes, I19 a late arrival, I20
// a batch that was partly done, I21 reads and hints, I22 the replay equals the first
// answer; T1 no token, T2 a wrong one, T3 and T4 what belongs to somebody else.
package drill

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// DefaultTimeout is how long a call may take before it counts as one that hangs.
const DefaultTimeout = 10 * time.Second

// DefaultDuplicates is how many calls are made at once in I2.
const DefaultDuplicates = 8

// Params say what to drill.
type Params struct {
	Spec   Spec
	Target Target

	Only       []string      // ids such as I2, with all their forms; none: all
	Timeout    time.Duration // of one call; 0 is DefaultTimeout
	Duplicates int           // calls at once; 0 is DefaultDuplicates
	// Salt makes the keys of this drill others than those of another; "" is one by
	// chance where the target remembers keys from drill to drill, else none.
	Salt string
	// Progress is told how many of the rows are done; nil tells nobody.
	Progress func(done, total int)
}

// invariant is one, or one form of one.
type invariant struct {
	id, form, title, why string
	// needs says why it does not apply to the target; "" where it does.
	needs func(s *setting) string
	run   func(t *trial)
}

// setting is what all rows of a drill share.
type setting struct {
	Params
	can   Abilities
	input *compiled
}

// Run drills. Its error is of class scenario_invalid for a drill that cannot be
// made (its example call does not work, the probe does not count it), world where the
// target does not open, or interrupted; with the last two the Report says what was
// found until there, and is nil where no row had begun.
func Run(ctx context.Context, p Params) (*Report, error) {
	s, err := prepare(p)
	if err != nil {
		return nil, err
	}
	rows, err := choose(p.Only)
	if err != nil {
		return nil, err
	}
	if err := s.example(ctx); err != nil {
		return nil, err
	}
	r := &Report{Schema: Schema, Drill: p.Spec.name(), Tool: p.Spec.Tool}
	for i := range rows {
		row := Row{ID: rows[i].id, Form: rows[i].form, Title: rows[i].title, Why: rows[i].why, State: NotRun}
		if err == nil {
			err = s.row(ctx, &rows[i], &row)
		}
		r.Rows = append(r.Rows, row)
		r.Totals.add(row.State)
		if p.Progress != nil && err == nil {
			p.Progress(i+1, len(rows))
		}
	}
	if ctx.Err() != nil {
		return r, failure.Errorf(failure.Interrupted, "interrupted: %d of %d rows were not run", r.Totals.NotRun, len(rows))
	}
	return r, err
}

func prepare(p Params) (*setting, error) {
	switch {
	case p.Target == nil:
		return nil, failure.Errorf(failure.ScenarioInvalid, "drill %q: no target; say where the tool runs", p.Spec.name())
	case p.Spec.Tool == "":
		return nil, failure.Errorf(failure.ScenarioInvalid, "drill %q: no tool; name the one to drill", p.Spec.name())
	case p.Spec.Args.Kind() != '{' || !p.Spec.Args.IsValid():
		return nil, failure.Errorf(failure.ScenarioInvalid, "drill %q: the arguments of %q must be a JSON object, are %.60q", p.Spec.name(), p.Spec.Tool, string(p.Spec.Args))
	case p.Duplicates != 0 && p.Duplicates < 2:
		return nil, failure.Errorf(failure.ScenarioInvalid, "drill %q: %d calls at once are no duplicates; take at least 2", p.Spec.name(), p.Duplicates)
	case p.Timeout < 0:
		return nil, failure.Errorf(failure.ScenarioInvalid, "drill %q: a timeout of %s; take one that is longer than nothing", p.Spec.name(), p.Timeout)
	}
	p.Timeout, p.Duplicates = cmp.Or(p.Timeout, DefaultTimeout), cmp.Or(p.Duplicates, DefaultDuplicates)
	s := &setting{Params: p, can: p.Target.Can()}
	if s.can.Remembers && s.Salt == "" {
		s.Salt = rand.Text()
	}
	var err error
	if d := p.Spec.decl(p.Spec.Tool); d != nil {
		s.input, err = compile(d.Input)
	}
	return s, err
}

// IDs are the ids of the invariants, in their order.
func IDs() []string {
	var out []string
	for _, inv := range invariants() {
		if !slices.Contains(out, inv.id) {
			out = append(out, inv.id)
		}
	}
	return out
}

func choose(only []string) ([]invariant, error) {
	all := invariants()
	if len(only) == 0 {
		return all, nil
	}
	ids := IDs()
	for _, id := range only {
		if !slices.Contains(ids, id) {
			return nil, failure.Errorf(failure.ScenarioInvalid, "there is no invariant %q; there are %s", id, strings.Join(ids, ", "))
		}
	}
	return slices.DeleteFunc(all, func(inv invariant) bool { return !slices.Contains(only, inv.id) }), nil
}

// example makes the example call alone. Where it does not work, or nothing of it is
// counted, no row would say anything.
func (s *setting) example(ctx context.Context) error {
	row := &Row{ID: "example", State: NotRun}
	t := &trial{setting: s, ctx: ctx, row: row, name: row.ID}
	defer t.close()
	a := t.succeed(t.call(t.operation()))
	switch n := t.made(); {
	case ctx.Err() != nil:
		return nil
	case t.err != nil:
		return failure.Errorf(failure.Of(t.err), "drill %q: %w", s.Spec.name(), t.err)
	case row.State == Breached:
		return failure.Errorf(failure.ScenarioInvalid, "drill %q: %s; %s", s.Spec.name(), row.What, row.Do)
	case n != 1:
		return failure.Errorf(failure.ScenarioInvalid, "drill %q: the example call of %q answers %s, and the probe counts %s of it, not 1; count what one call makes",
			s.Spec.name(), s.Spec.Tool, brief(a.String()), effects(n))
	}
	return nil
}

// row runs one invariant. Its error is one of the target's world.
func (s *setting) row(ctx context.Context, inv *invariant, row *Row) error {
	if ctx.Err() != nil {
		return nil
	}
	if inv.needs != nil {
		if why := inv.needs(s); why != "" {
			row.State, row.What = NotApplicable, why
			return nil
		}
	}
	t := &trial{setting: s, ctx: ctx, row: row, name: row.Name()}
	defer t.close()
	inv.run(t)
	switch {
	case ctx.Err() != nil:
		row.Steps, row.Notes = nil, nil
		return nil
	case t.err != nil:
		return failure.Errorf(failure.Of(t.err), "drill %q, %s: %w", s.Spec.name(), row.Name(), t.err)
	case row.State == NotRun:
		row.State = Held
	}
	return nil
}

// invariants are all, in their order.
func invariants() []invariant {
	return slices.Concat(
		[]invariant{sequential(), concurrent(), concurrentApart(), lostAnswer(), lostInCrash(), lostBefore(), lostBeforeCrash()},
		[]invariant{otherPayload(), fingerprint(), missingKey(), twoMeant(), restarted()},
		crashes(),
		[]invariant{validationFirst(), errorCaching(), expiry(), otherTool(), otherTenant(), stableKey(), keyFormat()},
		[]invariant{drafts(), draftExpiry(), staleLock(AfterReserve), staleLock(AfterEffect), lateArrival(), batch(), reads(), replayEqual()},
		[]invariant{noToken(), wrongToken(), foreignObjects(), foreignDrafts()},
	)
}

func needKey(s *setting) string {
	if s.Spec.Key.Field == "" {
		return fmt.Sprintf("%q takes no idempotency key", s.Spec.Tool)
	}
	return ""
}
