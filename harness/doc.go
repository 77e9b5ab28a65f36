// Package harness puts a scenario's world together, runs an agent in it, and
// judges what happened.
//
// TODO manual
package harness
