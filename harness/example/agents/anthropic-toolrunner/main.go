// Command anthropic-toolrunner is an agent made of the Anthropic SDK's own tool
// runner, with its default settings. It knows nothing of retake: the SDK takes
// its address and key from the environment.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"

	"github.com/retake-harness/retake/harness/example/agents/desk"
)

func main() {
	answer, err := run(context.Background(), strings.Join(os.Args[1:], " "))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, answer)
}

func run(ctx context.Context, task string) (string, error) {
	tools, err := tools()
	if err != nil {
		return "", err
	}
	client := anthropic.NewClient()
	runner := client.Beta.Messages.NewToolRunnerStreaming(tools, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model:     "claude-opus-4-8",
			MaxTokens: 1024,
			System:    []anthropic.BetaTextBlockParam{{Text: desk.System}},
			Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(task))},
		},
	})
	for events, err := range runner.AllStreaming(ctx) {
		if err != nil {
			return "", err
		}
		for _, err := range events {
			if err != nil {
				return "", err
			}
		}
	}
	if err := runner.Err(); err != nil {
		return "", err
	}
	var answer strings.Builder
	for _, block := range runner.LastMessage().Content {
		answer.WriteString(block.Text)
	}
	return answer.String(), nil
}

type (
	eventInput struct {
		Query string `json:"query" jsonschema:"required,description=Words that the event's title contains"`
	}
	weatherInput struct {
		City string `json:"city" jsonschema:"required,description=City with country such as London UK"`
		Date string `json:"date" jsonschema:"required,description=Day as YYYY-MM-DD"`
	}
	reminderInput struct {
		Text string `json:"text" jsonschema:"required,description=What to think of"`
		At   string `json:"at" jsonschema:"required,description=When as YYYY-MM-DDTHH:MM"`
	}
)

func tools() ([]anthropic.BetaTool, error) {
	event, err := toolrunner.NewBetaToolFromJSONSchema("get_calendar_event", "Find the next event in the user's calendar that matches a query.",
		func(_ context.Context, in eventInput) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return text(desk.Event(in.Query))
		})
	if err != nil {
		return nil, err
	}
	weather, err := toolrunner.NewBetaToolFromJSONSchema("get_weather", "Get the forecast for one city on one day.",
		func(_ context.Context, in weatherInput) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return text(desk.Weather(in.City, in.Date))
		})
	if err != nil {
		return nil, err
	}
	remind, err := toolrunner.NewBetaToolFromJSONSchema("set_reminder", "Set a reminder for the user.",
		func(_ context.Context, in reminderInput) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return text(desk.Remind(in.Text, in.At))
		})
	return []anthropic.BetaTool{event, weather, remind}, err
}

func text(s string, err error) (anthropic.BetaToolResultBlockParamContentUnion, error) {
	return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: s}}, err
}
