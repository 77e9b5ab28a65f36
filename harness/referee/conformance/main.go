// Command conformance is retake's MCP client as the conformance suite for clients
// drives it: the suite starts a server, gives its address as the last argument, and
// holds what it hears against the protocol. The program lists the server's tools,
// calls each once, and reads the first resource.
//
//	go build -o conformance ./harness/referee/conformance
//	npx @modelcontextprotocol/conformance client --suite all \
//	  --command "$PWD/conformance" --expected-failures harness/referee/conformance/baseline.yaml
//
// The suite tells what is to be called, where that matters, in
// MCP_CONFORMANCE_CONTEXT. What this client does not do, and why, is said in
// baseline.yaml; harness/doc/peers.md has the outcomes.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-harness/retake/harness/tool"
	"github.com/retake-harness/retake/harness/tool/mcptool"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Getenv, log.New(os.Stderr, "", 0)); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, log *log.Logger) error {
	if len(args) == 0 {
		return errors.New("the suite gives the server's address as the last argument; there is none")
	}
	told, err := toldCalls(getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	session, err := mcptool.Connect(ctx, mcptool.Server{Name: "conformance", URL: args[len(args)-1]}, getenv)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.Tools(ctx)
	if err != nil {
		return err
	}
	if told == nil {
		told = each(tools)
	}
	for _, c := range told {
		if err := execute(ctx, session, c, log); err != nil {
			return err
		}
	}
	return readFirst(ctx, session, log)
}

// execute makes a call. That a tool fails is no failure of the client.
func execute(ctx context.Context, session *mcptool.Session, c call, log *log.Logger) error {
	result, err := session.Execute(ctx, tool.Call{
		Tool: c.Name, Args: c.Arguments, TaskID: "conformance", AttemptID: "conformance-" + c.Name,
	})
	switch {
	case err != nil:
		return err
	case result.Err != nil:
		log.Printf("%s: %v: %s", c.Name, result.Err, result.Err.Detail)
	default:
		log.Printf("%s: %s", c.Name, result.Content)
	}
	return nil
}

func readFirst(ctx context.Context, session *mcptool.Session, log *log.Logger) error {
	resources, err := session.Resources(ctx)
	if err != nil || len(resources) == 0 {
		return err
	}
	contents, err := session.Read(ctx, resources[0].URI)
	if err != nil {
		return err
	}
	log.Printf("%s: %d contents", resources[0].URI, len(contents))
	return nil
}

type call struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// toldCalls are the calls that the suite asks for; nil where it asks for none.
func toldCalls(text string) ([]call, error) {
	if text == "" {
		return nil, nil
	}
	var said struct {
		Calls []call `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	return said.Calls, nil
}
