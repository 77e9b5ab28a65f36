package standin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/rawjson"
)

// choose finds the conversation of a request and the number of the answer in it,
// both from 1; why says what is missing.
func (s *Script) choose(r *wire.Request) (conversation, turn int, why string) {
	conversation, turn, ok := goesOn(r)
	if !ok {
		text := firstText(r)
		for i := range s.Conversations {
			if strings.Contains(text, s.Conversations[i].User) {
				conversation = i + 1
				break
			}
		}
		if conversation == 0 {
			return 0, 0, fmt.Sprintf("the script of the stand-in has no conversation that begins with %q", text)
		}
	}
	if conversation > len(s.Conversations) {
		return 0, 0, "no such answer was ever given"
	}
	turn += answers(r) + 1
	if n := len(s.Conversations[conversation-1].Turns); turn > n {
		return 0, 0, fmt.Sprintf("conversation %d of the stand-in's script has %d turns, and this request asks for turn %d", conversation, n, turn)
	}
	return conversation, turn, ""
}

// firstText is what the user says first; a tool's result is nothing that he says.
func firstText(r *wire.Request) string {
	for _, m := range r.Messages {
		if m.Role != wire.RoleUser {
			continue
		}
		var text strings.Builder
		for _, b := range m.Blocks {
			if b.Kind == wire.KindText {
				text.WriteString(b.Text)
			}
		}
		if text.Len() > 0 {
			return text.String()
		}
	}
	return ""
}

// answers counts the turns of the model.
func answers(r *wire.Request) int {
	n := 0
	for i, m := range r.Messages {
		if m.Role == wire.RoleAssistant && (i == 0 || r.Messages[i-1].Role != wire.RoleAssistant) {
			n++
		}
	}
	return n
}

// The ids of answers say which they are, so that a request which builds on one that
// the provider keeps needs no memory here.
const idWord = "standin_"

// goesOn reads which answer a request builds on.
func goesOn(r *wire.Request) (conversation, turn int, ok bool) {
	for _, p := range r.Params {
		var id string
		switch {
		case p.Name == "previous_response_id":
			id, _ = rawjson.Text(p.Value)
		case p.Name == "thread" && r.Continues: // Anthropic's
			id, _ = rawjson.Text(rawjson.Get(p.Value, "previous_message_id"))
		default:
			continue
		}
		_, rest, found := strings.Cut(id, idWord)
		first, second, both := strings.Cut(rest, "_")
		c, err1 := strconv.Atoi(first)
		t, err2 := strconv.Atoi(second)
		return c, t, found && both && err1 == nil && err2 == nil && c > 0
	}
	return 0, 0, false
}

// said is the turn as the model says it.
func (t *Turn) said(model string) *script.Turn {
	if other, ok := t.Models[model]; ok {
		return &other
	}
	return &t.Turn
}
