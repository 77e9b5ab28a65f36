package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// asks is an agent in a few lines: it asks the model once, and prints the answer. It
// exits with what is in CODE.
func asks() {
	task := os.Args[len(os.Args)-1]
	body := fmt.Sprintf(`{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":%q}]}`, task)
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println("status", resp.StatusCode, string(text))
	fmt.Println("key", os.Getenv("ANTHROPIC_API_KEY"), "secret", os.Getenv("MODEL_KEY"))
	if os.Getenv("CODE") != "" {
		fmt.Fprintln(os.Stderr, "out of ideas")
		os.Exit(3)
	}
}
