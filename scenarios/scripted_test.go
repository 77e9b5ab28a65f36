package scenarios_test

import (
	"maps"
	"testing"
	"time"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/harnesstest"
	"github.com/retake-harness/retake/harness/script"
	"github.com/retake-harness/retake/harness/tool"
)

// The recordings of this folder are made of the turns below: nobody has been
// paid for them, and their files say source: scripted. The test makes them anew
// and wants the committed bytes; RETAKE_UPDATE=1 writes them.
func TestScriptedCassettes(t *testing.T) {
	all := travel()
	maps.Copy(all, faulted())
	maps.Copy(all, judged())
	maps.Copy(all, checkout())
	maps.Copy(all, giftgenius())
	harnesstest.ScriptedAll(t, harnesstest.Params{Dir: ".."}, all)
}

// What the model says under a fault that it sees can be recorded, too.
func TestScriptedCassettesUnderFaults(t *testing.T) {
	harnesstest.Scripted(t, harnesstest.Params{Dir: ".."}, "travel/outage", harnesstest.Recording{Variant: "as-recorded", Turns: []script.Turn{
		turn("", 421, 69, call("get_weather", askWeather)),
		turn("The forecast is not to be had at the moment, so I cannot say whether it will rain.", 512, 27),
	}})
}

// Arguments and results of the worked case.
const (
	askCalendar = `{"query":"planning meeting"}`
	askWeather  = `{"city":"London, UK","date":"2026-07-14"}`
	askWay      = `{"origin":"Greenwich, London","destination":"Canary Wharf, London"}`

	calendar = `{"ok":true,"events":[{"title":"Planning meeting","start":"2026-07-14T15:00:00+01:00","location":"Canary Wharf, London"}]}`
	weather  = `{"ok":true,"condition":"rain","temperature_c":12}`
	way      = `{"ok":true,"minutes":45}`

	advice = "Your planning meeting is tomorrow at 15:00 in Canary Wharf, 45 minutes from home, so leave by about 14:00. " +
		"Rain is forecast with 12 °C: take an umbrella."
)

// travel are the recordings of scenarios/travel.
func travel() map[string]harnesstest.Recording {
	return map[string]harnesstest.Recording{
		"travel/umbrella":        worked(),
		"travel/umbrella-stream": worked(),
		"travel/umbrella-openai": worked(),
		"travel/choice-any": {
			Turns: []script.Turn{
				turn("", 612, 71, call("get_weather", askWeather)),
				turn("", 731, 66, call("get_travel_time", askWay)),
				turn("On 14 July rain is forecast for London, with 12 °C. The way from Greenwich to Canary Wharf takes 45 minutes.", 842, 41),
			},
			Tools: map[string][]script.Answer{"get_weather": {ok(weather)}, "get_travel_time": {ok(way)}},
		},
		"travel/choice-tool": {
			Turns: []script.Turn{
				turn("", 655, 54, call("get_calendar_event", `{"query":"London"}`)),
				turn("Yes: your planning meeting is at 15:00 in Canary Wharf, London.", 771, 24),
			},
			Tools: map[string][]script.Answer{"get_calendar_event": {ok(calendar)}},
		},
		"travel/choice-none": {
			Turns: []script.Turn{turn("I could not look the forecast up, so I do not know whether it will rain in London tomorrow.", 648, 26)},
		},
		"travel/blocked": {
			Turns: []script.Turn{
				turn("I will find the meeting first.", 590, 63, call("get_calendar_event", askCalendar)),
				turn("", 702, 88, call("cancel_event", `{"title":"Planning meeting","start":"2026-07-14T15:00:00+01:00"}`)),
				turn("I am not allowed to cancel events. Please cancel the planning meeting of 14 July, 15:00, in the calendar app.", 835, 35),
			},
			Tools: map[string][]script.Answer{"get_calendar_event": {ok(calendar)}},
		},
		"travel/tool-error": {
			Turns: []script.Turn{
				turn("", 421, 69, call("get_weather", askWeather)),
				turn("The weather service is not available right now, so I cannot tell whether it will rain. Please ask again later.", 543, 33),
			},
			Tools: map[string][]script.Answer{"get_weather": {down(), down()}},
		},
		"travel/nothing-found": {
			Turns: []script.Turn{
				turn("", 402, 52, call("get_calendar_event", `{"query":"dentist"}`)),
				turn("There is no dentist appointment in your calendar. Was it entered under another name?", 488, 22),
			},
			Tools: map[string][]script.Answer{"get_calendar_event": {ok(`{"ok":true,"events":[],"reason":"no event matches the query"}`)}},
		},
		"travel/cut-in-tool-use": {
			Turns: []script.Turn{{
				Text: "I will look that up.", Calls: []script.Call{call("get_travel_time", `{"origin":"Green`)},
				Stop: "max_tokens", Usage: script.Usage{Input: 405, Output: 16}, Latency: 600 * time.Millisecond,
			}},
		},
		"travel/unknown-tool": {
			Turns: []script.Turn{
				turn("", 418, 60, call("get_forecast", `{"place":"London"}`)),
				turn("", 531, 70, call("get_weather", askWeather)),
				turn("On 14 July rain is forecast for London, with 12 °C.", 640, 20),
			},
			Tools: map[string][]script.Answer{"get_weather": {ok(weather)}},
		},
		"travel/iteration-cap": {
			Turns: []script.Turn{
				turn("", 425, 70, call("get_weather", `{"city":"London, UK","date":"2026-07-14"}`)),
				turn("", 530, 70, call("get_weather", `{"city":"London, UK","date":"2026-07-15"}`)),
				turn("", 635, 70, call("get_weather", `{"city":"London, UK","date":"2026-07-16"}`)),
			},
			Tools: map[string][]script.Answer{"get_weather": {
				ok(weather), ok(`{"ok":true,"condition":"cloudy","temperature_c":15.5}`), ok(`{"ok":true,"condition":"sunny","temperature_c":21}`),
			}},
		},
	}
}

// faulted are the recordings of scenarios/travel that are run under faults, without
// them.
func faulted() map[string]harnesstest.Recording {
	rain := harnesstest.Recording{
		Turns: []script.Turn{
			turn("", 421, 69, call("get_weather", askWeather)),
			turn("On 14 July rain is forecast for London, with 12 °C.", 529, 20),
		},
		Tools: map[string][]script.Answer{"get_weather": {ok(weather)}},
	}
	return map[string]harnesstest.Recording{
		"travel/bad-arguments":   rain,
		"travel/outage":          rain,
		"travel/lost-connection": rain,
		"travel/asked-to-wait":   rain,
		"travel/timeout":         rain,
		"travel/business-error": {
			Turns: []script.Turn{
				turn("", 417, 66, call("get_travel_time", askWay)),
				turn("The way from Greenwich to Canary Wharf takes 45 minutes.", 519, 18),
			},
			Tools: map[string][]script.Answer{"get_travel_time": {ok(way)}},
		},
		"travel/duplicate-call": {
			Turns: []script.Turn{
				turn("", 433, 74, call("book_taxi", `{"from":"Greenwich","to":"Canary Wharf","at":"14:00"}`)),
				turn("Your taxi from Greenwich to Canary Wharf is booked for 14:00.", 545, 22),
			},
			Tools: map[string][]script.Answer{"book_taxi": {ok(`{"ok":true,"booking":"T-88"}`)}},
		},
	}
}

// judged are the recordings of scenarios whose runs other models judge.
func judged() map[string]harnesstest.Recording {
	return map[string]harnesstest.Recording{
		"travel/judged": {
			Turns: []script.Turn{
				turn("", 437, 69, call("get_weather", askWeather)),
				turn("On 14 July rain is forecast for London, with 12 °C. Wear a waterproof jacket and closed shoes.", 545, 31),
			},
			Tools: map[string][]script.Answer{"get_weather": {ok(weather)}},
			Judges: map[string][]script.Turn{
				"gpt-5.5-mini":   {turn("yes", 351, 2)},
				"gemini-3-flash": {turn("All of them", 622, 3)},
			},
		},
	}
}

// checkout are the recordings of scenarios/checkout.
func checkout() map[string]harnesstest.Recording {
	return map[string]harnesstest.Recording{
		"checkout/gift": {
			Turns: []script.Turn{
				turn("I will look for a gift.", 702, 68, call("find_gift", `{"person":"Ada","at_most":40}`)),
				turn("", 811, 61, call("create_order", `{"sku":"A-17","quantity":1}`)),
				turn("", 905, 64, call("send_confirmation", `{"order":"O-1001","to":"ada@example.com"}`)),
				turn("I ordered a pocket sextant for Ada for 34.50 pounds, order O-1001, and sent the confirmation to ada@example.com.", 1001, 38),
			},
			Tools: map[string][]script.Answer{
				"find_gift":         {ok(`{"ok":true,"sku":"A-17","name":"pocket sextant","price":34.50}`)},
				"create_order":      {ok(`{"ok":true,"order":"O-1001"}`)},
				"send_confirmation": {ok(`{"ok":true}`)},
			},
		},
	}
}

func worked() harnesstest.Recording {
	return harnesstest.Recording{
		Turns: []script.Turn{
			turn("I will look up the meeting and the weather.", 812, 128, call("get_calendar_event", askCalendar), call("get_weather", askWeather)),
			turn("", 1034, 74, call("get_travel_time", askWay)),
			turn(advice, 1142, 57),
		},
		Tools: map[string][]script.Answer{"get_calendar_event": {ok(calendar)}, "get_weather": {ok(weather)}, "get_travel_time": {ok(way)}},
	}
}

// turn is an answer with its tokens; it takes a second, and ten milliseconds a
// token.
func turn(text string, input, output int64, calls ...script.Call) script.Turn {
	return script.Turn{
		Text: text, Calls: calls, Usage: script.Usage{Input: input, Output: output},
		Latency: time.Second + time.Duration(output)*10*time.Millisecond,
	}
}

func call(name, args string) script.Call { return script.Call{Name: name, Args: args} }

func ok(content string) script.Answer {
	return script.Answer{Content: content, Latency: 180 * time.Millisecond}
}

func down() script.Answer {
	return script.Answer{Latency: 350 * time.Millisecond, Err: &tool.Error{
		Code: tool.CodeUnavailable, Message: "the weather service does not answer", Retryable: true, Class: failure.ToolUnavailable,
	}}
}
