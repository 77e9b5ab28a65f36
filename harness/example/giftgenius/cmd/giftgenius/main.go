// Command giftgenius serves the example's shop over MCP: on standard input and
// output, or over HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// settings are what the command line and the environment say.
type settings struct {
	shop   giftgenius.Options
	http   string
	tenant string
	tokens giftgenius.Tokens
}

func run(ctx context.Context, args []string, lookup func(string) (string, bool), stderr io.Writer) error {
	set, err := parse(args, lookup, stderr)
	if err != nil {
		return err
	}
	shop, err := giftgenius.Open(ctx, set.shop)
	if err != nil {
		return err
	}
	server := giftgenius.NewServer(shop, set.tenant, set.shop.Log)
	if set.http != "" {
		err = serve(ctx, set, giftgenius.Handle(server, set.tokens), stderr)
	} else if err = server.Run(ctx, &mcp.StdioTransport{}); errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, shop.Close())
}

func parse(args []string, lookup func(string) (string, bool), stderr io.Writer) (settings, error) {
	set := settings{tenant: "local", tokens: giftgenius.Tokens{}}
	flags := flag.NewFlagSet("giftgenius", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&set.http, "http", "", "serve streamable HTTP at this `address` (127.0.0.1:0 takes a free port) instead of standard input and output")
	flags.StringVar(&set.shop.File, "db", "giftgenius.db", "the shop's SQLite `file`; it is made when it is not there")
	flags.Func("handler", "how writes are made: sound (the default) or naive", func(v string) error {
		set.shop.Handler = giftgenius.Handler(v)
		return nil
	})
	flags.Func("mistake", fmt.Sprintf("plant a `mistake`, may be repeated: %v", giftgenius.Mistakes()), func(v string) error {
		set.shop.Mistakes = append(set.shop.Mistakes, giftgenius.Mistake(v))
		return nil
	})
	flags.IntVar(&set.shop.DailyLimit, "daily-limit", 50, "suggestions a day for each tenant")
	flags.Func("token", "who a bearer token stands for, `TENANT=TOKEN`, may be repeated; also GIFTGENIUS_TOKENS", set.tokens.Add)
	if err := flags.Parse(args); err != nil {
		return set, err
	}
	if flags.NArg() > 0 {
		return set, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	set.shop.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return set, environment(&set, lookup, stderr)
}

func environment(set *settings, lookup func(string) (string, bool), stderr io.Writer) error {
	if v, ok := lookup("GIFTGENIUS_TENANT"); ok && v != "" {
		set.tenant = v
	}
	if v, ok := lookup("GIFTGENIUS_TOKENS"); ok && v != "" {
		if err := set.tokens.Add(v); err != nil {
			return fmt.Errorf("GIFTGENIUS_TOKENS: %w", err)
		}
	}
	var err error
	set.shop.Hooks, err = giftgenius.ParseHooks(lookup, stderr)
	return err
}

func serve(ctx context.Context, set settings, h http.Handler, stderr io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set.http)
	if err != nil {
		return err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); len(set.tokens) == 0 && (!ok || !at.IP.IsLoopback()) {
		return errors.Join(fmt.Errorf("%s can be reached from outside: name who may call, with --token TENANT=TOKEN", listener.Addr()), listener.Close())
	}
	_, _ = fmt.Fprintf(stderr, "giftgenius: listening on http://%s%s\n", listener.Addr(), giftgenius.Path)
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // calls under way may be lost: that is what keys are for
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
