package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]bool{"json": false, "text": true, "": false} {
		var out bytes.Buffer
		logger, _ := Logger(&out, format, "info")
		logger.Info("operation claimed", "attempt", 2)
		if isText := strings.Contains(out.String(), `msg="operation claimed" attempt=2`); isText != text || json.Valid(out.Bytes()) == text {
			t.Errorf("%q: got %s", format, out.String())
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	for level, least := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
		"": slog.LevelInfo, "loud": slog.LevelInfo,
	} {
		var out bytes.Buffer
		logger, setLevel := Logger(&out, "json", "error")
		setLevel(level)
		if !logger.Enabled(t.Context(), least) || logger.Enabled(t.Context(), least-1) {
			t.Errorf("%q does not begin at %v", level, least)
		}
	}
}
