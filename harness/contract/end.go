package contract

import (
	"fmt"
	"slices"

	"github.com/retake-harness/retake/harness/journal"
	"github.com/retake-harness/retake/harness/wire"
)

// openEnd is W14: a run that ends as completed ends on a turn of the model that is
// finished, or on an answer of its own.
func (r *run) openEnd() {
	last := r.requests[len(r.requests)-1]
	why := ""
	switch {
	case answered(last):
		why = r.unfinished(last.Response)
	case r.Ended.Answer == "":
		why = "its last model call was not answered (" + whatCame(last) + ")"
	}
	if why != "" {
		r.breach(Breach{Request: last.Ordinal, What: "the run ended as completed, and " + why})
	}
}

// unfinished says why an answer is no end, "" when it is one.
func (r *run) unfinished(resp *wire.Response) string {
	switch {
	case resp.Stop == wire.StopToolCalls, resp.Stop == wire.StopDone && len(resp.Calls()) > 0:
		return "the model was waiting for the results of its calls"
	case !resp.Complete:
		return "a part of the model's last answer is missing"
	}
	switch resp.Stop {
	case wire.StopTruncated:
		return "the model's last answer was cut by its limit: " + stopWords(resp)
	case wire.StopPaused:
		return "the model had only paused: " + stopWords(resp)
	case wire.StopMalformed:
		return "the model's last call cannot be read: " + stopWords(resp)
	case wire.StopUnknown:
		return "nobody knows what the model's stop reason means: " + stopWords(resp)
	case wire.StopNone:
		return "the model's last answer has no stop reason"
	case wire.StopDone:
		if r.Ended.Answer == "" && saysNothing(resp) {
			return "the model's last turn was empty"
		}
	default:
	}
	return ""
}

// saysNothing tells that a turn has neither a text nor anything else that a reader
// could be shown, a picture perhaps.
func saysNothing(resp *wire.Response) bool {
	return resp.Text() == "" && !slices.ContainsFunc(resp.Message.Blocks, func(b wire.Block) bool { return b.Kind == wire.KindOpaque })
}

// whatCame says what an attempt without an answer ended in.
func whatCame(m *journal.ModelAttempt) string {
	switch {
	case m.Class != "" && m.Status > 0:
		return fmt.Sprintf("%s, status %d", m.Class, m.Status)
	case m.Class != "":
		return string(m.Class)
	}
	return fmt.Sprintf("status %d", m.Status)
}
