// Package failingspec has an agent that fails as a Ginkgo spec; the tests of
// harnesstest run it and read what it says.
package failingspec_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/harnesstest"
)

var suiteT *testing.T

func TestSpecs(t *testing.T) {
	suiteT = t
	RegisterFailHandler(Fail)
	RunSpecs(t, "failing")
}

func params(agent harness.Func) harnesstest.Params {
	return harnesstest.Params{
		Dir: "../../../internal/cli/testdata/project", Scenarios: []string{"hello"}, Agent: agent, NoGolden: true, T: suiteT,
	}
}

var _ = Describe("agents", func() {
	It("fails", func() {
		harnesstest.Run(GinkgoTB(), params(func(context.Context, *harness.Env) (string, error) { return "", errors.New("no idea what to do") }))
	})
	It("hangs", func() {
		harnesstest.Run(GinkgoTB(), params(func(context.Context, *harness.Env) (string, error) { select {} }))
	})
	It("goes on afterwards", func() {
		harnesstest.Run(GinkgoTB(), harnesstest.Params{Dir: "../../../internal/cli/testdata/project", Scenarios: []string{"hello"}, NoGolden: true})
	})
})
