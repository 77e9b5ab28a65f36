package sweep_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/fault"
	"github.com/retake-harness/retake/harness/internal/suite"
	"github.com/retake-harness/retake/harness/scenario"
)

func TestTry(t *testing.T) {
	s, err := suite.Open(suite.Dirs{Root: "../.."}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	sc, err := s.Load("travel/umbrella")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Params(sc, sc.Models[0], suite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.ContractOnly = true
	for _, f := range fault.Catalogue() {
		p.Variant = &scenario.Variant{ID: "x", Faults: []fault.Spec{{Name: f.Name}}}
		r := harness.Exec(context.Background(), p)
		fmt.Println(f.Name, r.Verdict, r.Outcome.Class, r.Outcome.Detail, r.Faults)
		for _, f := range r.Failures {
			fmt.Println("   ", f.What)
		}
	}
}
