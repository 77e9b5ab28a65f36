// Package scenarios_test runs every scenario of this folder as a Ginkgo spec:
//
//	go test ./scenarios                                  all of them
//	go test ./scenarios --ginkgo.label-filter=smoke      the smoke run of CI
//	RETAKE_UPDATE=1 go test ./scenarios                  accept the transcripts
package scenarios_test

import (
	"flag"
	"path"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/sebdah/goldie/v2"
	_ "modernc.org/sqlite" // effects are counted in a shop's database

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/transcript"
)

func TestScenarios(t *testing.T) {
	if harnesstest.Updating() {
		// goldie's own word for the same; it reads GOLDIE_UPDATE before we come
		if err := flag.Set("update", "true"); err != nil {
			t.Fatal(err)
		}
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "scenarios")
}

// over is what is to be done when all is over.
var over func()

var _ = AfterSuite(func() { over() })

var _ = Describe("replay", func() {
	cases, err := harnesstest.Cases(harnesstest.Params{Dir: "..", NoGolden: true, Cleanup: func(f func()) { over = f }})
	if err != nil {
		It("lists the scenarios", func() { Expect(err).NotTo(HaveOccurred()) })
	}
	for _, c := range cases {
		It(c.String(), Label(c.Labels...), func() {
			r := c.Exec(GinkgoTB())
			Expect(r.Verdict).To(Equal(harness.Pass), harnesstest.Explain(r))
			golden(GinkgoTB(), r)
		})
	}
})

// golden holds the transcript against the same file that `retake run` uses; of a
// run under faults only where the scenario asks for it.
func golden(tb testing.TB, r *harness.Result) {
	tb.Helper()
	name := path.Join(r.Name, harness.FileName(r.Model))
	if r.Variant != "" {
		if !r.Scenario.Variant(r.Variant).Expect.Golden {
			return
		}
		name = path.Join(name, r.Variant)
	}
	g := goldie.New(tb,
		goldie.WithFixtureDir("../golden"), goldie.WithNameSuffix(".golden"),
		goldie.WithDiffFn(func(got, want string) string { return transcript.Diff([]byte(want), []byte(got)) }))
	g.Assert(tb, name, r.Transcript)
}
