package effect_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/effect"
	"github.com/retake-harness/retake/harness/tool"
)

var nothing = tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil })

func TestEffects(t *testing.T) {
	keyed := &tool.Decl{Name: "pay", Effect: tool.EffectWrite, Key: &tool.Key{Field: "key", From: tool.KeyFromModel}}
	bare := &tool.Decl{Name: "mail", Effect: tool.EffectWrite}
	undeclared := &tool.Decl{Name: "thing"}
	read := &tool.Decl{Name: "look", Effect: tool.EffectRead}
	type delivery struct {
		decl *tool.Decl
		args string
	}
	for _, tc := range []struct {
		why  string
		made []delivery
		want map[string]int
	}{
		{"a read is none", []delivery{{read, `{}`}}, map[string]int{}},
		{"a tool that says nothing counts as a write", []delivery{{undeclared, `{}`}}, map[string]int{"thing": 1}},
		{"without a key each delivery is one", []delivery{{bare, `{"to":"a"}`}, {bare, `{"to":"a"}`}}, map[string]int{"mail": 2}},
		{"the same key and arguments are one", []delivery{{keyed, `{"key":"k","n":1}`}, {keyed, `{"n": 1, "key": "k"}`}}, map[string]int{"pay": 1}},
		{"another key is another", []delivery{{keyed, `{"key":"k","n":1}`}, {keyed, `{"key":"l","n":1}`}}, map[string]int{"pay": 2}},
		{"the same key for another payload is another", []delivery{{keyed, `{"key":"k","n":1}`}, {keyed, `{"key":"k","n":2}`}}, map[string]int{"pay": 2}},
		{"a key that was left out protects from nothing", []delivery{{keyed, `{"n":1}`}, {keyed, `{"n":1}`}}, map[string]int{"pay": 2}},
		{"nor does one that is null or empty", []delivery{{keyed, `{"key":null}`}, {keyed, `{"key":null}`}, {keyed, `{"key":""}`}}, map[string]int{"pay": 3}},
		{"a key that is a number is one", []delivery{{keyed, `{"key":7}`}, {keyed, `{"key":7}`}}, map[string]int{"pay": 1}},
		{"1.0 is not what 1 is: no change of spelling is guessed away", []delivery{{keyed, `{"key":"k","n":1}`}, {keyed, `{"key":"k","n":1.0}`}}, map[string]int{"pay": 2}},
	} {
		l := &effect.Ledger{}
		for i, d := range tc.made {
			if _, err := l.Wrap(d.decl, nothing).Execute(t.Context(), tool.Call{Tool: d.decl.Name, Args: jsontext.Value(d.args), Ordinal: i + 1}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tc.want, l.Effects()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.why, diff)
		}
	}
}

// What one principal does is not what another does, by whatever key.
func TestPrincipalsAreKeptApart(t *testing.T) {
	l := &effect.Ledger{}
	exec := l.Wrap(&tool.Decl{Name: "pay", Key: &tool.Key{Field: "key", From: tool.KeyFromModel}}, nothing)
	for i, who := range []string{"alice", "bob", "alice"} {
		if _, err := exec.Execute(t.Context(), tool.Call{Tool: "pay", Args: jsontext.Value(`{"key":"k"}`), Ordinal: i + 1, Principal: who}); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Effects()["pay"]; got != 2 {
		t.Errorf("%d effects of two people", got)
	}
}

// A delivery counts when it goes out: an answer that is lost does not undo it.
func TestALostAnswerIsAnEffect(t *testing.T) {
	l := &effect.Ledger{}
	lost := tool.ExecutorFunc(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Err: &tool.Error{Code: tool.CodeTimeout}}, nil
	})
	exec := l.Wrap(&tool.Decl{Name: "mail"}, lost)
	for i := range 3 {
		_, _ = exec.Execute(t.Context(), tool.Call{Tool: "mail", Args: jsontext.Value(`{}`), Ordinal: 1, Attempt: i + 1})
	}
	if got := l.Effects()["mail"]; got != 3 {
		t.Errorf("three mails went out, %d are counted", got)
	}
}

func TestDeliveriesInTheOrderOfTheCalls(t *testing.T) {
	l := &effect.Ledger{}
	exec := l.Wrap(&tool.Decl{Name: "w"}, nothing)
	var wg sync.WaitGroup
	for call := 5; call > 0; call-- {
		wg.Go(func() {
			for attempt := 1; attempt <= 2; attempt++ {
				_, _ = exec.Execute(context.Background(), tool.Call{Tool: "w", Args: jsontext.Value(`{}`), Ordinal: call, Attempt: attempt})
			}
		})
	}
	wg.Wait()
	for i, d := range l.Deliveries() {
		if d.Call != i/2+1 || d.Attempt != i%2+1 {
			t.Errorf("row %d is call %d, attempt %d", i, d.Call, d.Attempt)
		}
	}
}

// A tool that says that it reads is not counted by its calls, and its effects
// are when somebody has seen one.
func TestAnEffectBesideAnAnswer(t *testing.T) {
	l := &effect.Ledger{}
	read := &tool.Decl{Name: "look", Effect: tool.EffectRead}
	c := tool.Call{Tool: "look", Args: jsontext.Value(`{}`), Ordinal: 1, Attempt: 1}
	if _, err := l.Wrap(read, nothing).Execute(t.Context(), c); err != nil || len(l.Deliveries()) != 0 {
		t.Fatalf("%v, %v", l.Deliveries(), err)
	}
	l.Deliver(t.Context(), read, c)
	if diff := cmp.Diff(map[string]int{"look": 1}, l.Effects()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
