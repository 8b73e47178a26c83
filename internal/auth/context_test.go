package auth

import (
	"context"
	"errors"
	"testing"
)

func TestNobodyIsNoCallerAndNoCallerIsNotNobody(t *testing.T) {
	t.Parallel()
	ada := NewContext(t.Context(), SecurityContext{Subject: "ada"})
	for name, c := range map[string]struct {
		ctx       context.Context
		anonymous bool
		known     bool
	}{
		"ACaller":           {ada, false, true},
		"Nobody":            {NewAnonymous(t.Context()), true, false},
		"NobodyAfterCaller": {NewAnonymous(ada), true, false},
		"NoCallerAtAll":     {t.Context(), false, false},
	} {
		if got := IsAnonymous(c.ctx); got != c.anonymous {
			t.Errorf("%s: anonymous is %t", name, got)
		}
		if _, err := FromContext(c.ctx); errors.Is(err, ErrUnauthenticated) == c.known {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
