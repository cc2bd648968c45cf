package llm

import (
	"errors"
	"fmt"
	"testing"
)

func TestRetryable(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want bool
	}{
		{Error{Cause: CauseUnreachable}, true},
		{Error{Cause: CauseUnreachable, Permanent: true}, false},
		{Error{Cause: CauseRateLimited, Status: 429}, true},
		{Error{Cause: CauseQuota, Status: 429}, false},
		{Error{Cause: CauseServer}, true},
		{Error{Cause: CauseServer, Permanent: true}, false},
		{Error{Cause: CauseStream}, true},
		{Error{Cause: CauseStream, Permanent: true}, false},
		{Error{Cause: CauseContextLength}, false},
		{Error{Cause: CauseOutputTruncated}, false},
		{Error{Cause: CauseFiltered}, false},
		{Error{Cause: CauseInternal}, false},
	} {
		if got := tt.err.Retryable(); got != tt.want {
			t.Errorf("%+v: got %v", tt.err, got)
		}
	}
	retried := []int{408, 409, 421, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
	for _, status := range retried {
		if e := (&Error{Cause: CauseServer, Status: status}); !e.Retryable() {
			t.Errorf("status %d is not retried", status)
		}
	}
	for _, status := range []int{400, 401, 403, 404, 413, 422, 501, 505, 507, 511, 519, 525, 530} {
		if e := (&Error{Cause: CauseServer, Status: status}); e.Retryable() {
			t.Errorf("status %d is retried", status)
		}
	}
}

func TestOutputTruncated(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("cut"), false},
		{Errorf(CauseStream, "cut"), false},
		{Errorf(CauseOutputTruncated, "cut"), true},
		{fmt.Errorf("ask: %w", Errorf(CauseOutputTruncated, "cut")), true},
		{fmt.Errorf("ask: %w", &OutputTruncatedError{}), true},
		{Errorf(CauseServer, "%w", &OutputTruncatedError{Message: "too long"}), true},
		{Errorf(CauseServer, "provider p: response was cut off by max output tokens before any usable content was there"), true},
	} {
		if got := OutputTruncated(tt.err); got != tt.want {
			t.Errorf("%v: got %v", tt.err, got)
		}
	}
	if got := (&OutputTruncatedError{}).Error(); !OutputTruncated(errors.New(got)) {
		t.Errorf("its own words %q are not known", got)
	}
}
