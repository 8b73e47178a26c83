package asyncop

import "slices"

// State is where an operation stands. Its values are the words of the schema
// and of the database.
type State string

// The five states. The last three are terminal.
const (
	Queued    State = "QUEUED"
	Running   State = "RUNNING"
	Succeeded State = "SUCCEEDED"
	Failed    State = "FAILED"
	Cancelled State = "CANCELLED"
)

// transitions holds every legal change of state. The statements of the stores
// name the states that they start from, and a CHECK refuses impossible rows.
var transitions = map[State][]State{
	Queued:  {Running, Failed, Cancelled},
	Running: {Queued, Succeeded, Failed, Cancelled},
}

// Terminal reports whether s can no longer change.
func (s State) Terminal() bool { return len(transitions[s]) == 0 }

// CanBecome reports whether the state machine leads from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// Execution says whether the mutation reached the upstream's resolvers. Its
// values are ordered, and the execution of an operation is the greatest over
// all its attempts: it never falls.
type Execution int8

// What is known of the upstream's side, least first.
const (
	NotExecuted      Execution = 0
	UnknownExecution Execution = 1
	Executed         Execution = 2
)

// String returns the word of the schema.
func (e Execution) String() string {
	switch e {
	case NotExecuted:
		return "NOT_EXECUTED"
	case Executed:
		return "EXECUTED"
	default:
		return "UNKNOWN"
	}
}
