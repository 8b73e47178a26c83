// Package auth decides who calls and tells the upstream about it: it verifies
// tokens, keeps the security context of a caller, and fills the header
// templates that carry an identity upstream.
//
// It imports nothing of ours. A security context is claims only: no token is
// ever kept, logged or forwarded. What a tenant is, and whether it exists, is
// decided in package executor.
package auth
