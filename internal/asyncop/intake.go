package asyncop

import "time"

// Intake is what a node can take from the queue now.
type Intake struct {
	Node  string
	Limit int // operations
	// Look makes the store look for due rows that it has not been told of,
	// even where those it knows of would do.
	Look bool
	// Room answers what may run of a tenant; nil bounds nothing. It must not
	// block.
	Room func(tenant string) Room
}

// room is what may run of a tenant.
func (i Intake) room(tenant string) Room {
	if i.Room == nil {
		return Room{}
	}
	return i.Room(tenant)
}

// Room bounds what runs of one tenant. Its zero value bounds nothing.
type Room struct {
	// Closed: nothing may be claimed now.
	Closed bool
	// Running is the most operations that may be RUNNING at a time, on all
	// nodes together; 0 is no bound.
	Running int
	// Mutations is the same for each mutation, by root field name. One that is
	// absent has no bound.
	Mutations map[string]int
	// Most is the most that this claim may take; 0 is no bound.
	Most int
}

// Claimed is what a claim took.
type Claimed struct {
	Claims []Claim
	// Left: there may be due rows that were not taken, for want of room or
	// because of the limit.
	Left bool
	// Next is how long until another row is known to come due, negative where
	// none is.
	Next time.Duration
}
