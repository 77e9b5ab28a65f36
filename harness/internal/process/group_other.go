//go:build !unix

package process

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }

func terminateGroup(p *os.Process) error { return p.Kill() }

func isBrokenPipe(error) bool { return false }
