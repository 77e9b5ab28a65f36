package giftgenius

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// write is a call of a tool that changes something, apart from how often it is
// made: that is the handler's affair.
type write struct {
	tenant, tool, key string
	fingerprint       string // of what the arguments mean, the key left out

	// plan checks whether the write may be made and fixes what it will be. It
	// changes nothing; an *Error refuses.
	plan func(ctx context.Context, tx *sql.Tx) (plan, error)
	// claim keeps others off what the write uses up. Nil: it uses nothing up.
	claim func(ctx context.Context, tx *sql.Tx, op operation) error
	// act has the effect outside. Nil: there is none.
	act func(ctx context.Context, op operation) (charges []string, err error)
	// record writes down what was done and gives the result.
	record func(ctx context.Context, tx *sql.Tx, op operation, charges []string) (result any, err error)
}

// plan is what a write will do, in terms that outlive a change of prices.
type plan struct {
	GiftID   string `json:"gift_id,omitempty"`
	GiftName string `json:"gift_name,omitempty"`
	DraftID  string `json:"draft_id,omitempty"`
	Quantity int    `json:"quantity,omitempty"`
	Cents    int    `json:"cents,omitempty"`
	Cards    []card `json:"cards,omitempty"`
}

// operation is one logical write, however many calls it takes.
type operation struct {
	id          string
	providerKey string // "": the provider is given none
	tenant      string
	plan        plan
	takenOver   bool // somebody began it before; the effect may be there
}

// name makes an id of the shop out of the operation's.
func (o operation) name(prefix string) string { return prefix + "_" + o.id }

// handler decides whether a write is made, repeated from memory, or refused.
type handler interface {
	do(ctx context.Context, w *write) (json.RawMessage, error)
}

// fingerprint is of the arguments as the tool reads them, so that what means the
// same is the same.
func fingerprint(args any) string {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // our own structs of strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// digest is a short name for what the parts say together. No part holds a zero
// byte: tenants come from the configuration, keys and ids have been checked.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
