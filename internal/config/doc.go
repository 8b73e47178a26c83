// Package config reads gateway.yaml. It is strict: whatever it does not know,
// cannot use or misses is a mistake, and all mistakes of a file are told at
// once, each with its line. No mistake tells a value, so none tells a secret.
//
// It imports nothing of ours but auth, whose rules for tenants and headers it
// checks early.
package config
