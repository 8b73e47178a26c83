// Package asyncop is the domain of the gateway: an accepted mutation and the
// life it leads from QUEUED to a terminal state.
//
// It holds the operation, the state machine, the Store contract, the hub that
// spreads wakes and the handle that waits. It imports nothing of ours. Storage
// lives below in postgres and sqlite, the work in package executor, the API in
// package graph. Package storetest is the Store contract as tests.
package asyncop
