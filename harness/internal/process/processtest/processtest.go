// Package processtest helps tests that run programs: the test's own binary plays
// the program, so that none has to be installed, and what is left of a group is
// counted.
package processtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const variable = "RETAKE_TEST_PROGRAM"

// Main runs the tests, or where the binary was started as one of the programs,
// that. It belongs into TestMain.
func Main(m *testing.M, programs map[string]func()) {
	name, ok := os.LookupEnv(variable)
	if !ok {
		os.Exit(m.Run())
	}
	program := programs[name]
	if program == nil {
		panic("no test program " + name)
	}
	program()
	os.Exit(0)
}

// Env is the environment in which the binary is the program. The race detector
// would let each program sleep for a second at its end.
func Env(name string) []string { return []string{variable + "=" + name, "GORACE=atexit_sleep_ms=0"} }

// Self is the test's own binary.
func Self(tb testing.TB) string {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Gone fails tb when a process of the group is still there after a while. It
// skips where the system does not tell.
func Gone(tb testing.TB, group int) {
	tb.Helper()
	left := Group(tb, group)
	for range 1000 {
		if len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
		left = Group(tb, group)
	}
	tb.Errorf("left of the process group %d: %v", group, left)
}

// Group are the processes of a group that are alive. It skips where the system
// does not tell.
func Group(tb testing.TB, group int) []int {
	tb.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		tb.Skip("the system has no /proc: what is left of a process group cannot be seen")
	}
	var out []int
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // ended in between
		}
		// pid (name) state parent group …; the name may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 2 && fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			out = append(out, pid)
		}
	}
	return out
}
