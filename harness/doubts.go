package harness

import (
	"fmt"
	"strings"

	"github.com/retake-harness/retake/harness/journal"
)

// otherModels tells of answers by another model than the one that was asked,
// each pair once. A dated version of it is no other one.
func otherModels(attempts []*journal.ModelAttempt) []string {
	var out []string
	told := map[[2]string]bool{}
	for _, m := range attempts {
		if m.Request == nil || m.Response == nil {
			continue
		}
		asked, came := bareModel(m.Request.Model), bareModel(m.Response.Model)
		if strings.HasPrefix(asked, came) || strings.HasPrefix(came, asked) || told[[2]string{asked, came}] {
			continue
		}
		told[[2]string{asked, came}] = true
		out = append(out, fmt.Sprintf("answer #%d comes from the model %q, asked was %q", m.Ordinal, came, asked))
	}
	return out
}

// bareModel is a model's name without the collection that Gemini puts before it.
func bareModel(name string) string { return strings.TrimPrefix(name, "models/") }
