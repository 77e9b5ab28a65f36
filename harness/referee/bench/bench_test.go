package bench_test

import (
	"testing"
)

// distinct is how many stories the benchmarks go round, so that no way of
// running them lives from having just seen the same bytes.
const distinct = 256

func stories(n int) []story {
	out := make([]story, n)
	for i := range out {
		out[i] = newStory(i)
	}
	return out
}

// BenchmarkScenario is one scenario on one worker, files read from disk.
func BenchmarkScenario(b *testing.B) {
	all := stories(distinct)
	b.Run("hand", func(b *testing.B) {
		h := newHand(b, b.TempDir(), all)
		round(b, all, func(s story) { h.run(b, s.id) })
	})
	b.Run("bare", func(b *testing.B) {
		x := newBare(b, b.TempDir(), all)
		round(b, all, func(s story) { x.run(b, s.id) })
	})
	b.Run("retake", func(b *testing.B) {
		p := newProject(b, b.TempDir(), all)
		w := reporter(b, b.TempDir())
		round(b, all, func(s story) { p.run(b, w, "shop/"+s.id) })
		b.StopTimer()
		if _, err := w.Close(false); err != nil {
			b.Fatal(err)
		}
	})
}

// round goes through the stories, again and again, one an iteration, after a
// first one that nobody times.
func round(b *testing.B, all []story, run func(story)) {
	run(all[0])
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		run(all[n%len(all)])
	}
}
