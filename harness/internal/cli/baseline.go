package cli

import (
	"path/filepath"

	"github.com/retake-harness/retake/harness/failure"
)

// baselineName is the folder of the accepted report, below that of reports.
const baselineName = "baseline"

func noBaseline(reports string) error {
	return failure.Errorf(failure.World, "%s: there is no accepted report yet; accept one with: retake baseline accept --rollback HOW",
		filepath.Join(reports, baselineName))
}
