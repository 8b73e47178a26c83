package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameError compares errors with errors.Is.
var sameError = cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })

// expect compares deeply. Times are equal when they are the same instant.
func expect[T any](t *testing.T, what string, got, want T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
