// Command retake runs, inspects and reports on scenarios for agents that use
// tools. See retake help.
package main

import (
	"os"

	"github.com/retake-harness/retake/harness/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System()))
}
