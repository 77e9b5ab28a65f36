// Package failing has agents that fail under go test; the tests of harnesstest
// run it and read what it says.
package failing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/harnesstest"
)

func params(agent harness.Func) harnesstest.Params {
	return harnesstest.Params{Dir: "../../../internal/cli/testdata/project", Scenarios: []string{"hello"}, Agent: agent, NoGolden: true}
}

func TestError(t *testing.T) {
	harnesstest.Run(t, params(func(context.Context, *harness.Env) (string, error) { return "", errors.New("no idea what to do") }))
}

func TestHang(t *testing.T) {
	t.Parallel()
	harnesstest.Run(t, params(func(context.Context, *harness.Env) (string, error) { select {} }))
}

func TestLeak(t *testing.T) {
	t.Parallel()
	harnesstest.Run(t, params(func(context.Context, *harness.Env) (string, error) {
		go func() { select {} }()
		return "Hello!", nil
	}))
}

func TestAfterwards(t *testing.T) {
	t.Parallel()
	t.Log("the others go on")
}
