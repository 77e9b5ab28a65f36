package tool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/failure"
	"github.com/retake-harness/retake/harness/tool"
)

func TestReported(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		failed    bool
		want      *tool.Error
	}{
		{
			"the whole form is an error wherever it is found",
			`{"ok":false,"error":{"code":"DAILY_LIMIT","message":"no more today","retryable":false}}`, false,
			&tool.Error{Code: "DAILY_LIMIT", Message: "no more today", Class: failure.ToolFailed},
		},
		{
			"a known code has its class",
			`{"ok":false,"error":{"code":"UPSTREAM_TIMEOUT","message":"slow","retryable":true}}`, false,
			&tool.Error{Code: "UPSTREAM_TIMEOUT", Message: "slow", Retryable: true, Class: failure.ToolTimeout},
		},
		{
			"the inner object alone, where it is known to be an error",
			`{"code":"VALIDATION_ERROR","message":"min is over max"}`, true,
			&tool.Error{Code: "VALIDATION_ERROR", Message: "min is over max", Class: failure.ToolInvalidArguments},
		},
		{
			"further members change nothing",
			`{"ok":false,"trace":"x","error":{"code":"DISCONTINUED","message":"gone","hint":1}}`, false,
			&tool.Error{Code: "DISCONTINUED", Message: "gone", Class: failure.ToolFailed},
		},
		{
			"without a message something is said all the same",
			`{"ok":false,"error":{"code":"X"}}`, false,
			&tool.Error{Code: "X", Message: "the tool failed", Class: failure.ToolFailed},
		},
		{"error without ok: false, where it is known to be one", `{"error":{"code":"X","message":"m"}}`, true, &tool.Error{Code: "X", Message: "m", Class: failure.ToolFailed}},
		{"a result may have a member called error", `{"error":{"code":"X","message":"m"}}`, false, nil},
		{"a result may have a code and a message", `{"code":"EUR","message":"hello"}`, false, nil},
		{"ok: true is no error, whatever stands beside it", `{"ok":true,"error":{"code":"X"}}`, true, nil},
		{"an error without a code cannot be acted on", `{"ok":false,"error":{"message":"m"}}`, true, nil},
		{"another shape", `{"ok":false,"error":"boom"}`, true, nil},
		{"no object", `[1]`, true, nil},
		{"no JSON", `boom`, true, nil},
		{"nothing", ``, true, nil},
	} {
		got, ok := tool.Reported([]byte(tc.text), tc.failed)
		if diff := cmp.Diff(tc.want, got); diff != "" || ok != (tc.want != nil) {
			t.Errorf("%s: %s: ok %v (-want +got):\n%s", tc.why, tc.text, ok, diff)
		}
	}
}

// What the model is shown of an error reads back as that error.
func TestReportedReadsErrorText(t *testing.T) {
	want := &tool.Error{Code: "PAYMENT_PROVIDER_ERROR", Message: "the \"bank\" is down", Retryable: true, Class: failure.ToolFailed}
	got, _ := tool.Reported([]byte(tool.ErrorText(want)), false)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
