package render

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-harness/retake/harness/failure"
)

// Variable names the browser's program where it is not found by PATH.
const Variable = "RETAKE_CHROMIUM"

// ErrNone is the cause where no browser was found, and none was named.
var ErrNone = errors.New("there is no Chromium here; install one (apt-get install chromium), or name its program in " + Variable)

// Browser is a Chromium, or a browser built of it.
type Browser struct {
	Program string
	// Patience is how long a page may take in real time; 0 is a minute.
	Patience time.Duration

	path string // PATH, for what it starts itself
}

// Find finds the browser: what Variable names, or by PATH. An error is of class
// world and says how to get one; it is ErrNone where nothing is named either.
func Find(getenv func(string) string) (*Browser, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"}
	if given := getenv(Variable); given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if program := lookUp(name, getenv("PATH")); program != "" {
			return &Browser{Program: program, path: getenv("PATH")}, nil
		}
	}
	if given := getenv(Variable); given != "" {
		return nil, failure.Errorf(failure.World, "%s is %q, and there is no such program", Variable, given)
	}
	return nil, failure.Errorf(failure.World, "%w", ErrNone)
}

// lookUp finds a program by a list of folders; "" where it is in none of them.
func lookUp(name, path string) string {
	folders := filepath.SplitList(path)
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		folders = []string{""}
	}
	for _, folder := range folders {
		whole, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			continue
		}
		if program, err := exec.LookPath(whole); err == nil {
			return program
		}
	}
	return ""
}

// environment is what the browser sees: nothing of the person's own.
func (b *Browser) environment(dir string) []string {
	return []string{"PATH=" + b.path, "HOME=" + dir, "TMPDIR=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "TZ=UTC", "LANG=C.UTF-8"}
}
