package drillfile

import "github.com/retake-harness/retake/harness/drill"

// Target is what the drill runs on; Params would start its servers.
func (d *Drill) Target() drill.Target { return &d.target }
