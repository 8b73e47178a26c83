package sqlite

import (
	"testing"

	"go.uber.org/goleak"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, waker asyncop.Waker) asyncop.Store {
		t.Helper()
		return fresh(t, Options{Waker: waker})
	})
}
