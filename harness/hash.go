package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"time"

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

func userTexts(turns []scenario.Turn) []string {
	out := make([]string, len(turns))
	for i, t := range turns {
		out[i] = t.User
	}
	return out
}

// hashDecls covers what the model is told of the tools.
func hashDecls(decls []tool.Decl) string {
	texts := make([]string, 0, 4*len(decls))
	for i := range decls {
		d := &decls[i]
		texts = append(texts, d.Name, d.Description, string(d.Input), string(d.Extra))
	}
	return hashTexts(texts)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// limits fills in from the configuration what the scenario leaves open, and from
// the defaults what both do.
func limits(s, config scenario.Limits) scenario.Limits {
	pick := func(a, b, c int) int {
		switch {
		case a > 0:
			return a
		case b > 0:
			return b
		}
		return c
	}
	return scenario.Limits{
		Iterations: pick(s.Iterations, config.Iterations, defaultIterations),
		ToolCalls:  pick(s.ToolCalls, config.ToolCalls, 0),
		Parallel:   pick(s.Parallel, config.Parallel, defaultParallel),
		Tokens:     int64(pick(int(s.Tokens), int(config.Tokens), 0)),
		Time:       time.Duration(pick(int(s.Time), int(config.Time), int(defaultTime))),
	}
}
