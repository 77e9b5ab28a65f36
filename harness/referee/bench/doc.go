// Package bench times one scenario three ways, on the same data and in the same
// run: as a good engineer writes it by hand (go-vcr, the official SDK, goldie),
// as a bare loop of the standard library, and with retake, everything on.
//
//	go test -run '^$' -bench . ./bench
//
// The scenario is a support agent of a shop: three model calls of 2 to 4 KB,
// three tool calls. Each of the scenarios has texts of its own.
package bench
