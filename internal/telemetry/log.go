package telemetry

import (
	"io"
	"log/slog"
)

// Logger returns a logger that writes to w. The format is json, or text; the
// level debug, info, warn or error. Whatever else they are, the logger is the
// default: json, from info on.
func Logger(w io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: least}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
