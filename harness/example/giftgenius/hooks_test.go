package giftgenius_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-harness/retake/harness/example/giftgenius"
)

func TestParseHooks(t *testing.T) {
	tests := []struct {
		name, why string
		env       map[string]string
		want      giftgenius.Hooks
		err       string
	}{
		{name: "none", why: "a server in use has none"},
		{name: "empty", why: "an empty variable is one that is not set", env: map[string]string{"RETAKE_HOLD_AT": "", "RETAKE_FAIL": "", "RETAKE_CLOCK_OFFSET": ""}},
		{
			name: "all", why: "they go together", env: map[string]string{"RETAKE_HOLD_AT": "after_effect", "RETAKE_CLOCK_OFFSET": "25h", "RETAKE_FAIL": "payment"},
			want: giftgenius.Hooks{HoldAt: giftgenius.AfterEffect, ClockOffset: 25 * time.Hour, FailPayment: true},
		},
		{name: "fail later", why: "a part of a batch fails", env: map[string]string{"RETAKE_FAIL": "payment:2"}, want: giftgenius.Hooks{FailPayment: true, FailAfter: 2}},
		{name: "back in time", why: "an offset has a sign", env: map[string]string{"RETAKE_CLOCK_OFFSET": "-1m"}, want: giftgenius.Hooks{ClockOffset: -time.Minute}},
		{
			name: "unknown point", why: "a misspelt hook must not be a passed test", env: map[string]string{"RETAKE_HOLD_AT": "after_efect"},
			err: `RETAKE_HOLD_AT: unknown point "after_efect"; known are ["before_reserve" "after_reserve" "after_effect" "after_record"]`,
		},
		{name: "no duration", why: "25 of what", env: map[string]string{"RETAKE_CLOCK_OFFSET": "25"}, err: `RETAKE_CLOCK_OFFSET: "25" is no duration; write one like 25h`},
		{name: "unknown dependency", why: "the shop has one", env: map[string]string{"RETAKE_FAIL": "mail"}, err: `RETAKE_FAIL: unknown dependency "mail"; known is "payment"`},
		{name: "no number", why: "it counts charges", env: map[string]string{"RETAKE_FAIL": "payment:few"}, err: `RETAKE_FAIL: "few" is no number of charges`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := giftgenius.ParseHooks(func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }, nil)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tt.err {
				t.Errorf("got the error %q, want %q: %s", text, tt.err, tt.why)
			}
			if d := cmp.Diff(tt.want, got); err == nil && d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, d)
			}
		})
	}
}
