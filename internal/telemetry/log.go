package telemetry

import (
	"io"
	"log/slog"
)

// Logger returns a logger that writes to w. The format is json, or text; the
// level debug, info, warn or error. Whatever else they are, the logger is the
// default: json, from info on. setLevel changes the level.
func Logger(w io.Writer, format, level string) (log *slog.Logger, setLevel func(level string)) {
	var least slog.LevelVar
	setLevel = func(level string) {
		var asked slog.Level // info, unless it can be read
		_ = asked.UnmarshalText([]byte(level))
		least.Set(asked)
	}
	setLevel(level)
	options := &slog.HandlerOptions{Level: &least}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options)), setLevel
	}
	return slog.New(slog.NewJSONHandler(w, options)), setLevel
}
