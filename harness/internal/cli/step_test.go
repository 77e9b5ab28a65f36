package cli

import "testing"

func TestPlace(t *testing.T) {
	for _, tc := range []struct {
		where, file  string
		line, column int
	}{
		{"scenarios/x.yaml:3:7", "scenarios/x.yaml", 3, 7},
		{"scenarios/x.yaml:3", "scenarios/x.yaml", 3, 0},
		{"scenarios/x.yaml", "scenarios/x.yaml", 0, 0},
		{`C:\x\y.yaml:3:7`, `C:\x\y.yaml`, 3, 7},
		{`C:\x\y.yaml`, `C:\x\y.yaml`, 0, 0},
		{"model request 3", "model request 3", 0, 0},
		{"", "", 0, 0},
		{"x:99999999999", "x:99999999999", 0, 0},
	} {
		if file, line, column := place(tc.where); file != tc.file || line != tc.line || column != tc.column {
			t.Errorf("%q: %q, %d, %d", tc.where, file, line, column)
		}
	}
}
