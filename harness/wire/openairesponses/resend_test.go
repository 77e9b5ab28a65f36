package openairesponses_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/wire"
	"github.com/retake-harness/retake/harness/wire/openairesponses"
)

func TestResend(t *testing.T) {
	const (
		bare      = `{"id":"rs_1","type":"reasoning","summary":[]}`
		encrypted = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VjcmV0"}`
		call      = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}","id":"fc_1","status":"completed"}`
		message   = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}],"id":"msg_1","status":"completed"}`
		nameless  = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}","status":"completed"}`
		unnamed   = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}],"status":"completed"}`
	)
	for _, tc := range []struct{ why, params, items, want string }{
		{"what the server keeps is referred to", ``, bare + "," + call, bare + "," + call},
		{"a stored conversation is", `,"store":true`, bare + "," + call, bare + "," + call},
		{"a reference to nothing is left out, and the ids that lean on it", `,"store":false`, bare + "," + message + "," + call, unnamed + "," + nameless},
		{"encrypted reasoning goes back whole", `,"store":false`, encrypted + "," + call, encrypted + "," + call},
		{"a turn without reasoning stays", `,"store":false`, message + "," + call, message + "," + call},
	} {
		var codec openairesponses.Codec
		decode := func(items string) *wire.Request {
			r, err := codec.DecodeRequest("/responses", []byte(`{"model":"m","input":[`+items+`]`+tc.params+`}`))
			if err != nil {
				t.Fatal(tc.why, err)
			}
			return r
		}
		got, want := decode(tc.items), decode(tc.want)
		before := meaning(t, got)
		got.Messages[0] = openairesponses.Resend(got, got.Messages[0])
		if g, w := meaning(t, got), meaning(t, want); g != w {
			t.Errorf("%s:\n got %s\nwant %s", tc.why, g, w)
		}
		if after := meaning(t, decode(tc.items)); after != before {
			t.Errorf("%s: the turn that was given has changed: %s", tc.why, after)
		}
	}
}

// meaning is the request's body in canonical form.
func meaning(t *testing.T, r *wire.Request) string {
	t.Helper()
	body, err := openairesponses.Codec{}.EncodeRequest(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	v := jsontext.Value(body)
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}
