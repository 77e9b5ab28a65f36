package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/retake-harness/retake/harness/scenario"
	"github.com/retake-harness/retake/harness/tool"
)

// hashTexts is one hash over several texts; where one ends counts.
func hashTexts(texts []string) string {
	h := sha256.New()
	var n [8]byte
	for _, t := range texts {
		for i := range n {
			n[i] = byte(len(t) >> (8 * i))
		}
		h.Write(n[:])
		h.Write([]byte(t))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// promptTexts are what the scenario has the model told, tools aside.
func promptTexts(s *scenario.Scenario) []string {
	out := append([]string(nil), s.System...)
	for _, m := range s.Opening {
		out = append(out, string(m.Role)+": "+m.Text)
	}
	for _, t := range s.Turns {
		out = append(out, t.User)
	}
	return out
}

// HashesOf identify what a run of the scenario goes by, as far as its file says it:
// of tools that a server declares their names alone, where they are named. No
// cassette is among it.
func HashesOf(s *scenario.Scenario) Hashes {
	return Hashes{Scenario: s.Hash, Prompt: hashTexts(promptTexts(s)), Tools: hashDecls(s.Tools)}
}

// hashDecls covers what the model is told of the tools.
func hashDecls(decls []tool.Decl) string {
	texts := make([]string, 0, 5*len(decls))
	for i := range decls {
		d := &decls[i]
		texts = append(texts, d.Name, d.Description, string(d.Input), string(d.Extra), string(d.Provider))
	}
	return hashTexts(texts)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// withDefaults fills in what neither the scenario nor the configuration says. A
// run always has a time limit, because a deadline is what ends a wait on a
// virtual clock.
func withDefaults(l scenario.Limits) scenario.Limits {
	l.Iterations = cmp.Or(l.Iterations, scenario.DefaultIterations)
	l.Parallel = cmp.Or(l.Parallel, scenario.DefaultParallel)
	l.Time = cmp.Or(l.Time, defaultTime)
	return l
}
