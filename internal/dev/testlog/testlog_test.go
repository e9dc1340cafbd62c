package testlog

import (
	"testing"

	"go.uber.org/zap"
)

func TestALineAfterTheTestIsDropped(t *testing.T) {
	t.Parallel()
	var log *zap.Logger
	t.Run("the test that ends", func(t *testing.T) { log = New(t, zap.WarnLevel) })
	log.Warn("too late") // zaptest's logger panics here
}
