package failure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/retake-harness/retake/harness/failure"
)

func TestClassOfAnError(t *testing.T) {
	miss := failure.Errorf(failure.CassetteMiss, "no recording")
	for _, tc := range []struct {
		why  string
		err  error
		want failure.Class
	}{
		{"nothing went wrong", nil, failure.None},
		{"its own", miss, failure.CassetteMiss},
		{"below other words", fmt.Errorf("turn 2: %w", miss), failure.CassetteMiss},
		{"the outermost, which knows more", failure.Wrap(failure.Agent, miss), failure.Agent},
		{"without one it is our defect", errors.New("oh"), failure.Internal},
	} {
		if got := failure.Of(tc.err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.why, got, tc.want)
		}
	}
	if err := failure.Wrap(failure.World, nil); err != nil {
		t.Errorf("no error got a class: %v", err)
	}
	if err := failure.Errorf(failure.World, "reading: %w", io.EOF); err.Error() != "reading: EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("a class changes neither the text nor the chain: %v", err)
	}
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		why  string
		err  error
		want failure.Class
	}{
		{"a deadline", fmt.Errorf("post: %w", context.DeadlineExceeded), failure.Timeout},
		{"a timeout of the system", os.ErrDeadlineExceeded, failure.Timeout},
		{"a person", context.Canceled, failure.Interrupted},
		{"a cut connection", io.ErrUnexpectedEOF, failure.Transport},
		{"what has a class keeps it", failure.Errorf(failure.CassetteMiss, "x: %w", context.Canceled), failure.CassetteMiss},
		{"nothing", nil, failure.None},
	} {
		if got := failure.Of(failure.Classify(tc.err)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.why, got, tc.want)
		}
	}
}
