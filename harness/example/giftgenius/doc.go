// Package giftgenius is a small shop for gifts as an MCP server, with its goods,
// drafts, orders and promises in a SQLite file. It is two things: a model of a
// tool set that stays right when calls are repeated, doubled, cut off or made by
// a stranger; and, with the naive handler or a mistake planted, a specimen of
// the faults that such tool sets have.
//
// # How a write is made
//
// Every tool that changes something takes an idempotency_key. The sound handler
// (sound.go) makes a write in three steps, each of which may be the last one that
// the process lives to see:
//
//  1. Reserve, in one transaction: the key, the fingerprint of the arguments and
//     the plan (what was checked and priced).
//  2. Act: the payment provider is asked, with the operation's id as its own key.
//  3. Record, in one transaction: the order and the first result.
//
// Who finds a reservation that nobody finishes takes it over, looks the charge up
// by the operation's id, makes it only if it is not there, and records. A process
// may take over from those that started before it, at once: the provider makes no
// second charge under one key, and whoever records first records for both. From one
// that started later it takes over when the reservation is older than [Lease].
//
// # What is promised
//
//   - Missing key, or one that is longer than 64 or not of [A-Za-z0-9_-]: VALIDATION_ERROR.
//   - Same key, other arguments: IDEMPOTENCY_KEY_REUSED, and nothing is touched.
//     Arguments are the same when they mean the same: a default that is spelled
//     out, the order of members and white space change nothing.
//   - Same key while the first call is under way: the same result, or after
//     [Wait] IDEMPOTENCY_KEY_IN_USE, which is retryable.
//   - What is stored: successes alone. A refusal (validation, a discontinued gift)
//     leaves no trace of the key. An error of the provider is not stored either;
//     the key stays with its arguments, and the next call tries again.
//   - After [KeyLife] a finished key is new again. A draft that has been ordered
//     stays ordered, so an expired key of commit_order makes no second order. An
//     unfinished key never expires.
//   - Scope: a key belongs to one tenant and one tool.
//   - Results hold no time of day and no chance: a replayed one is equal, byte by
//     byte.
//
// # Hooks for tests
//
// A test harness can ask for three things by environment variables, in any
// language; they are read once, at the start ([ParseHooks]):
//
//   - RETAKE_HOLD_AT=before_reserve|after_reserve|after_effect|after_record: the
//     first write that comes to that point says "retake: held at <point>" on a line
//     of its own on standard error, and stands still until the process is killed.
//   - RETAKE_CLOCK_OFFSET=25h: the server's clock is moved by that much.
//   - RETAKE_FAIL=payment: the payment provider answers 503 for as long as the
//     process lives; payment:N lets N charges pass first.
package giftgenius
