package referee_test

import (
	"strings"

	"github.com/retake-harness/retake/harness/referee"
	"github.com/retake-harness/retake/harness/wire"
)

// fixture is an answer with a name, under which its differences are explained.
type fixture struct {
	name   string
	api    wire.API
	answer referee.Answer
}

func fixtures() []fixture {
	var all []fixture
	for api, bodies := range map[wire.API]bodies{
		wire.AnthropicMessages: anthropicBodies(),
		wire.OpenAIChat:        chatBodies(),
		wire.OpenAIResponses:   responsesBodies(),
		wire.GeminiGenerate:    geminiBodies(),
	} {
		all = append(all, bodies.fixtures(api)...)
	}
	return all
}

// bodies are one API's answers by what is the matter with them.
type bodies struct {
	json    map[string]string // whole answers, status 200
	streams map[string]string
	errors  map[string]string // bodies of status 429
}

func (b bodies) fixtures(api wire.API) []fixture {
	var out []fixture
	add := func(kind string, stream bool, status int, contentType string, group map[string]string) {
		for name, body := range group {
			out = append(out, fixture{
				string(api) + ", " + kind + ": " + name, api,
				referee.Answer{Status: status, ContentType: contentType, Body: []byte(body), Stream: stream},
			})
		}
	}
	add("JSON", false, 200, "application/json", b.json)
	add("stream", true, 200, "text/event-stream", b.streams)
	add("status 429", false, 429, "application/json", b.errors)
	// What every API meets the same way.
	whole := b.streams[wholeStream]
	add("stream", true, 200, "text/event-stream; charset=utf-8", map[string]string{
		"CRLF":                      strings.ReplaceAll(whole, "\n", "\r\n"),
		"unterminated last event":   strings.TrimRight(whole, "\n"),
		"comments between events":   strings.ReplaceAll(whole, "\n\n", "\n\n: keep-alive\n\n"),
		"no space behind the colon": strings.ReplaceAll(whole, "data: ", "data:"),
		"empty body":                "",
	})
	for _, stream := range []bool{false, true} {
		kind := map[bool]string{false: "JSON", true: "stream"}[stream]
		add(kind, stream, 200, "text/html", map[string]string{"HTML page with status 200": "<html><body>Sign in</body></html>"})
		add(kind, stream, 502, "text/html", map[string]string{"HTML page with status 502": "<html><body>Bad gateway</body></html>"})
	}
	add("JSON", false, 200, "application/json", map[string]string{"empty body": "", "body cut in the middle": cutInHalf(b.json[wholeAnswer])})
	return out
}

// The fixtures that every API has under the same name.
const (
	wholeAnswer = "a text and a call"
	wholeStream = "a text and a call"
)

func cutInHalf(s string) string { return s[:len(s)/2] }

// lines are the events of a stream that only has data.
func lines(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}
