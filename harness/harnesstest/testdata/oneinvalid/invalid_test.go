// Package oneinvalid has scenarios of which some cannot be used; the tests of
// harnesstest run it, as a test and as Ginkgo specs, and read what it says.
package oneinvalid_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/harnesstest"
)

var params = harnesstest.Params{NoGolden: true}

func TestRun(t *testing.T) { harnesstest.Run(t, params) }

func TestSpecs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "one invalid")
}

var _ = Describe("replay", func() {
	cases, err := harnesstest.Cases(params)
	if err != nil {
		It("lists the scenarios", func() { Expect(err).NotTo(HaveOccurred()) })
	}
	for _, c := range cases {
		It(c.String(), func() {
			r := c.Exec(GinkgoTB())
			Expect(r.Verdict).To(Equal(harness.Pass), harnesstest.Explain(r))
		})
	}
})
