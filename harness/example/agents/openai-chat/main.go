// Command openai-chat is an agent with a loop of its own over OpenAI's Chat
// Completions, as one writes it in an afternoon, with the SDK's default settings.
// It knows nothing of retake: the SDK takes its address and key from the
// environment.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"

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

const mostTurns = 10

func run(ctx context.Context, task string) (string, error) {
	client := openai.NewClient()
	params := openai.ChatCompletionNewParams{
		Model:    "gpt-5.5-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(desk.System), openai.UserMessage(task)},
		Tools:    tools(),
	}
	for range mostTurns {
		completion, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", err
		}
		if len(completion.Choices) == 0 {
			return "", fmt.Errorf("no answer")
		}
		message := completion.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(do(call.Function.Name, call.Function.Arguments), call.ID))
		}
	}
	return "", fmt.Errorf("no answer after %d turns", mostTurns)
}

// do runs a tool; what goes wrong is told to the model.
func do(name, arguments string) string {
	var in struct{ Query, City, Date, Text, At string }
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return "error: " + err.Error()
	}
	var result string
	var err error
	switch name {
	case "get_calendar_event":
		result, err = desk.Event(in.Query)
	case "get_weather":
		result, err = desk.Weather(in.City, in.Date)
	case "set_reminder":
		result, err = desk.Remind(in.Text, in.At)
	default:
		err = fmt.Errorf("unknown tool %s", name)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return result
}

func tools() []openai.ChatCompletionToolUnionParam {
	return []openai.ChatCompletionToolUnionParam{
		tool("get_calendar_event", "Find the next event in the user's calendar that matches a query.", "query", "Words that the event's title contains"),
		tool("get_weather", "Get the forecast for one city on one day.", "city", "City with country, such as London, UK", "date", "Day, as YYYY-MM-DD"),
		tool("set_reminder", "Set a reminder for the user.", "text", "What to think of", "at", "When, as YYYY-MM-DDTHH:MM"),
	}
}

// tool declares one. Its arguments, each a name and what it is, are texts, and all
// are required.
func tool(name, description string, arguments ...string) openai.ChatCompletionToolUnionParam {
	properties, required := map[string]any{}, []string{}
	for i := 0; i < len(arguments); i += 2 {
		properties[arguments[i]] = map[string]any{"type": "string", "description": arguments[i+1]}
		required = append(required, arguments[i])
	}
	return openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: name, Description: openai.String(description),
		Parameters: openai.FunctionParameters{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
	})
}
