// Package executor decides what may run and runs it: tenants, the composite
// schema of each, the upstream behind it, the allowlist and the pool of
// workers. Synchronous requests, stored documents and retries all go through
// the same gqlgen executor of the same tenant.
//
// It imports asyncop and auth. The gateway's generated schema is handed to it
// by cmd.
package executor
