// Package server is the wire: GraphQL over HTTP, websockets and server-sent
// events, and the lives of the connections.
//
// It finds out who calls, reads a request, hands it to the caller's tenant and
// writes the replies. What a request means is decided in package executor; an
// envelope is passed on byte for byte, never decoded. Everything that a client
// sends or holds is bounded, and nothing of it is logged but method and path.
package server
