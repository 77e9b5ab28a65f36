// Package shop is an example of a user's own agent: a support agent for a shop,
// written with the official Anthropic SDK, which knows nothing of retake but the
// func type that it is run as.
package shop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/retake-harness/retake/harness"
	"github.com/retake-harness/retake/harness/tool"
)

// The SDK has no limits of its own but ten minutes for a request.
const (
	maxTurns   = 10
	maxRepeats = 3 // of one call with the same arguments
	timeout    = time.Minute
)

// Agent works on the task until the model ends its turn.
func Agent(ctx context.Context, env *harness.Env) (answer string, err error) {
	client := anthropic.NewClient(
		option.WithHTTPClient(env.HTTP), option.WithBaseURL(env.BaseURL), option.WithAPIKey("replayed"),
		option.WithMaxRetries(2), option.WithRequestTimeout(timeout),
	)
	params := anthropic.MessageNewParams{
		Model:     env.Model,
		MaxTokens: int64(env.Scenario.MaxTokens),
		System:    []anthropic.TextBlockParam{{Text: strings.Join(env.Scenario.System, "\n")}},
		Tools:     tools(env.Tools.Decls()),
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(env.Task()))},
	}
	seen := map[string]int{}
	for range maxTurns {
		msg, err := client.Messages.New(ctx, params)
		if err != nil {
			return "", err
		}
		params.Messages = append(params.Messages, msg.ToParam())
		switch msg.StopReason {
		case anthropic.StopReasonEndTurn:
			if answer := text(msg); answer != "" {
				return answer, nil
			}
			return "", errors.New("the model ended its turn without a word")
		case anthropic.StopReasonToolUse:
			if err := sound(msg, seen); err != nil {
				return "", err
			}
			results, err := runTools(ctx, env.Tools, msg)
			if err != nil {
				return "", err
			}
			params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
		default:
			return "", fmt.Errorf("the model stopped with %s", msg.StopReason)
		}
	}
	return "", errors.New("no end after 10 turns")
}

// sound refuses a turn whose calls cannot be told apart, or go in a circle.
func sound(msg *anthropic.Message, seen map[string]int) error {
	ids := map[string]bool{}
	for _, block := range msg.Content {
		call, ok := block.AsAny().(anthropic.ToolUseBlock)
		if !ok {
			continue
		}
		if ids[call.ID] {
			return fmt.Errorf("two calls have the id %q", call.ID)
		}
		ids[call.ID] = true
		key := call.Name + string(call.Input)
		if seen[key]++; seen[key] > maxRepeats {
			return fmt.Errorf("%s is called again and again", call.Name)
		}
	}
	return nil
}

// runTools answers every call of a turn, in its order, in one message.
func runTools(ctx context.Context, box *tool.Box, msg *anthropic.Message) ([]anthropic.ContentBlockParamUnion, error) {
	var results []anthropic.ContentBlockParamUnion
	for _, block := range msg.Content {
		call, ok := block.AsAny().(anthropic.ToolUseBlock)
		if !ok {
			continue
		}
		a, err := box.Call(ctx, call.Name, call.ID, string(call.Input))
		if err != nil {
			return nil, err
		}
		results = append(results, anthropic.NewToolResultBlock(call.ID, a.Text, a.IsError))
	}
	return results, nil
}

func text(msg *anthropic.Message) string {
	var b strings.Builder
	for _, block := range msg.Content {
		if t, ok := block.AsAny().(anthropic.TextBlock); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
