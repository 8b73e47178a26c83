// Package demo is what `gateway demo` adds to a gateway: the configuration of
// two tenants before a sample upstream, and the commands to try it with. The
// upstream itself is package upstream beside it.
package demo
