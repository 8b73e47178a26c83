package postgres

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// column is one field of many items: an array for unnest.
func column[T, V any](items []T, of func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = of(item)
	}
	return values
}

// submitColumns are the arguments of submit.sql: the submissions at the open
// places. Root field names are GraphQL names, which have no comma.
func submitColumns(batch []asyncop.Submission, open []int) []any {
	type submission = asyncop.Submission
	items := column(open, func(i int) submission { return batch[i] })
	return []any{
		column(items, func(s submission) uuid.UUID { return s.ID }),
		column(items, func(s submission) string { return s.Tenant }),
		column(items, func(s submission) string { return s.Issuer }),
		column(items, func(s submission) string { return s.Subject }),
		column(items, func(s submission) string { return string(s.Authority) }),
		column(items, func(s submission) string { return strings.Join(s.Mutations, ",") }),
		column(items, func(s submission) string { return s.OperationName }),
		column(items, func(s submission) string { return s.Document }),
		column(items, func(s submission) *string { return jsonOrNull(s.Variables) }),
		column(items, func(s submission) string { return s.Label }),
		column(items, func(s submission) bool { return s.Idempotent }),
		column(items, func(s submission) *string { return orNull(s.IdempotencyKey) }),
		column(items, func(s submission) []byte { return s.Fingerprint[:] }),
		column(items, func(s submission) *uuid.UUID { return s.RetryOf }),
		column(items, func(s submission) int16 { return int16(s.Priority) }),
		column(items, func(s submission) int32 { return int32(s.MaxAttempts) }),
		column(items, func(s submission) string { return s.TraceContext }),
		column(items, func(s submission) *time.Time { return s.NotBefore }),
		column(items, func(s submission) *time.Time { return s.StartBefore }),
		column(items, func(s submission) int64 { return s.StartWithin.Microseconds() }),
		column(items, func(s submission) string { return s.Lane }),
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func jsonOrNull(value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	text := string(value)
	return &text
}
