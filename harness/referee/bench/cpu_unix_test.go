//go:build unix

package bench_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, on all cores, the kernel's work
// for it included. Unlike the wall clock it says little about what else the
// machine is doing.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
