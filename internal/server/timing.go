package server

import "time"

// timing is how long the server waits for what.
type timing struct {
	body      time.Duration // for the body of a request to arrive
	response  time.Duration // for a whole response to be taken
	write     time.Duration // for one event or websocket message to be taken
	ready     time.Duration // for the store to answer a check
	grace     time.Duration // for requests in flight when the server stops
	init      time.Duration // for connection_init, and for finding out who calls
	ping      time.Duration // between two pings of a websocket
	pong      time.Duration // for any sign of life on a websocket
	closing   time.Duration // for the client's side of a closing handshake
	keepAlive time.Duration // between two comments of an event stream
}

var defaultTiming = timing{
	body:      60 * time.Second,
	response:  60 * time.Second,
	write:     10 * time.Second,
	ready:     5 * time.Second,
	grace:     20 * time.Second,
	init:      10 * time.Second,
	ping:      25 * time.Second,
	pong:      60 * time.Second,
	closing:   time.Second,
	keepAlive: 12 * time.Second,
}
