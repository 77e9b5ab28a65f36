package lint

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOf takes a name apart: createHTTPOrder and create_http-order are create,
// http, order.
func wordsOf(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}

// spelled is a name in one spelling: create_http_order.
func spelled(name string) string { return strings.Join(wordsOf(name), "_") }

// Words that begin the names of what changes the world, and of what looks at it.
var (
	writingVerbs = []string{
		"add", "append", "archive", "assign", "approve", "book", "buy", "cancel", "charge", "clear", "close", "commit", "create", "delete", "deploy", "destroy",
		"disable", "drop", "edit", "enable", "erase", "grant", "insert", "invite", "merge", "modify", "move", "order", "overwrite", "patch", "pay", "post",
		"publish", "purchase", "purge", "put", "refund", "register", "remove", "rename", "replace", "reset", "revoke", "save", "schedule", "send", "set", "submit",
		"subscribe", "transfer", "truncate", "unsubscribe", "update", "upload", "upsert", "wipe", "withdraw", "write",
	}
	readingVerbs = []string{
		"browse", "calculate", "check", "compare", "count", "describe", "estimate", "explain", "fetch", "find", "get", "inspect", "list", "lookup", "peek",
		"query", "read", "recommend", "retrieve", "scan", "search", "show", "stat", "suggest", "summarize", "view", "watch",
	}
)

func verb(name string) string {
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func writes(word string) bool { return slices.Contains(writingVerbs, word) }
func reads(word string) bool  { return slices.Contains(readingVerbs, word) }
