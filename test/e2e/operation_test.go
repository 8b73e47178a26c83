package e2e

import (
	"encoding/json"
	"testing"
	"time"
)

// operation is an AsyncOperation as clients read it.
type operation struct {
	ID                    string
	State                 string
	Done                  bool
	Attempts              int
	CancellationRequested bool
	Result                json.RawMessage
	Error                 *failure
	AttemptLog            []attempt
}

type failure struct {
	Code, Message, Execution string
	Retryable                bool
}

type attempt struct {
	Code, Execution string
	FinishedAt      *time.Time
}

const fields = `id state done attempts cancellationRequested result
	error { code message retryable execution } attemptLog { code execution finishedAt }`

// The documents that tests send again and again.
const (
	submitDocument  = `mutation ($input: SubmitAsyncInput!) { submitAsync(input: $input) { ` + fields + ` } }`
	getDocument     = `query ($id: ID!, $waitMs: Int) { asyncOperation(id: $id, waitMs: $waitMs) { ` + fields + ` } }`
	cancelDocument  = `mutation ($id: ID!) { cancelAsync(id: $id) { outcome operation { ` + fields + ` } } }`
	resultDocument  = `subscription ($id: ID!) { operationResult(id: $id) { ` + fields + ` } }`
	updatesDocument = `subscription ($id: ID!) { operationUpdates(id: $id) { ` + fields + ` } }`
	listDocument    = `query ($filter: AsyncOperationFilter, $scope: AsyncScope) { asyncOperations(first: 100, filter: $filter, scope: $scope) { nodes { id } } }`
)

// input is a SubmitAsyncInput: a document, and names and JSON texts in turns.
func input(document string, members ...string) string {
	return object(append([]string{"document", quote(document)}, members...)...)
}

// trySubmit submits an input and answers whatever comes.
func (c caller) trySubmit(t *testing.T, input string) answer {
	t.Helper()
	return c.ask(t, submitDocument, object("input", input))
}

// submit submits an input that must be taken.
func (c caller) submit(t *testing.T, input string) operation {
	t.Helper()
	return operationAt(t, c.trySubmit(t, input).body, "data", "submitAsync")
}

// get reads an operation that must be there, waiting at most waitMs for its end.
func (c caller) get(t *testing.T, id, waitMs string) operation {
	t.Helper()
	return operationAt(t, c.ask(t, getDocument, object("id", quote(id), "waitMs", waitMs)).body, "data", "asyncOperation")
}

// await polls until an operation is done.
func (c caller) await(t *testing.T, id string) (op operation) {
	t.Helper()
	eventually(t, "operation "+id+" is done", func() bool {
		op = c.get(t, id, "5000")
		return op.Done
	})
	return op
}

// list answers the ids of a list.
func (c caller) list(t *testing.T, members ...string) (ids []string) {
	t.Helper()
	got := c.ask(t, listDocument, object(members...))
	var nodes []operation
	if err := json.Unmarshal(at(t, got.body, "data", "asyncOperations", "nodes"), &nodes); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	for _, node := range nodes {
		ids = append(ids, node.ID)
	}
	return ids
}

// operationAt reads the operation at a path. Its result is cut out byte for
// byte.
func operationAt(t *testing.T, text []byte, path ...string) (op operation) {
	t.Helper()
	found := at(t, text, path...)
	if err := json.Unmarshal(found, &op); err != nil || op.ID == "" {
		t.Fatalf("%v: no operation in %s", err, text)
	}
	op.Result = at(t, found, "result")
	return op
}

// ended fails the test where an operation did not end like this. code is "" for
// a success.
func (op operation) ended(t *testing.T, state, code, execution string, attempts int) {
	t.Helper()
	got := failure{}
	if op.Error != nil {
		got = *op.Error
	}
	if op.State != state || got.Code != code || got.Execution != execution || op.Attempts != attempts {
		t.Errorf("operation %s is %s after %d attempts with %+v\nwant %s after %d with %s %s",
			op.ID, op.State, op.Attempts, got, state, attempts, code, execution)
	}
}
