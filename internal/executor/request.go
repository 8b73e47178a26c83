package executor

import (
	"encoding/json"
	"time"
)

// Request is what a client submits: SubmitAsyncInput. Pointers are nil where
// the client left a field out or wrote null.
type Request struct {
	Document       string
	OperationName  *string
	Variables      json.RawMessage // the client's own bytes
	IdempotencyKey *string
	Label          *string
	NotBefore      *time.Time
	StartBefore    *time.Time
	Priority       *int
	WaitMs         *int
}
