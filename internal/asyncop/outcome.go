package asyncop

import "encoding/json"

// Outcome is how an operation ended. Its fields are unexported so that only
// the three combinations below exist.
type Outcome struct {
	state   State
	result  json.RawMessage
	failure *Failure
}

// Succeed ends an operation with the upstream's envelope, which has data and
// no errors.
func Succeed(envelope json.RawMessage) Outcome {
	return Outcome{state: Succeeded, result: envelope}
}

// Fail ends an operation with a failure. The envelope is the upstream's answer
// where there was one (EXECUTION_FAILED), else nil.
func Fail(f Failure, envelope json.RawMessage) Outcome {
	return Outcome{state: Failed, failure: &f, result: envelope}
}

// Cancel ends an operation whose attempt was cut off, or never started, after
// its cancellation was requested.
func Cancel(execution Execution) Outcome {
	return Outcome{state: Cancelled, failure: &Failure{
		Code: CodeCancelled, Message: MessageCancelled, Execution: execution,
	}}
}

// State is SUCCEEDED, FAILED or CANCELLED.
func (o Outcome) State() State { return o.state }

// Result is the envelope to keep, nil where there is none.
func (o Outcome) Result() json.RawMessage { return o.result }

// Failure is nil for a success.
func (o Outcome) Failure() *Failure { return o.failure }

// Execution is what this attempt tells of the upstream's side.
func (o Outcome) Execution() Execution {
	if o.failure != nil {
		return o.failure.Execution
	}
	return Executed
}
