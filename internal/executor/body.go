package executor

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// The bounds of what reading an answer holds beside it: room made in advance
// on an upstream's word, and buffers kept for later answers.
const (
	trustedLength = 16 << 20
	keptBuffer    = 16 << 20
)

// buffers are for answers that do not tell their length, and for those that
// are not kept.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func emptyBuffer() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

// giveBack ends the use of a buffer, and of all bytes that were read from it.
func giveBack(buffer *bytes.Buffer) {
	if buffer.Cap() <= keptBuffer {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// readBody reads the whole of an answer's body, or reports that it is larger
// than most bytes; 0 is no limit. What it answers has no room to spare: it may
// be kept for long.
func readBody(response *http.Response, most int64) (text []byte, whole bool, err error) {
	told := response.ContentLength
	if told < 0 || told > trustedLength {
		return readUntold(response.Body, most)
	}
	if whole = most == 0 || told <= most; !whole {
		told = most
	}
	text = make([]byte, told)
	_, err = io.ReadFull(response.Body, text)
	return text, whole, err
}

// readUntold reads a body of unknown length.
func readUntold(body io.Reader, most int64) (text []byte, whole bool, err error) {
	if most > 0 {
		body = io.LimitReader(body, most+1)
	}
	buffer := emptyBuffer()
	defer giveBack(buffer)
	_, err = buffer.ReadFrom(body)
	text = append(make([]byte, 0, buffer.Len()), buffer.Bytes()...)
	return text, most == 0 || int64(len(text)) <= most, err
}
