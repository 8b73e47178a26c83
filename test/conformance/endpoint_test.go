package conformance

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"
)

// endpoint is where GraphQL is served, and what is said there of the caller.
type endpoint struct {
	url    string
	header http.Header
	client *http.Client
}

func newEndpoint(t *testing.T, url, header, value string) endpoint {
	t.Helper()
	connections := &http.Transport{IdleConnTimeout: 2 * time.Second}
	t.Cleanup(connections.CloseIdleConnections)
	return endpoint{
		url:    url,
		header: http.Header{header: {value}, "Content-Type": {"application/json"}, "Accept": {"application/json"}},
		client: &http.Client{Transport: connections, Timeout: time.Minute},
	}
}

// post sends a body and returns the answer's.
func (e endpoint) post(t *testing.T, body []byte) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = e.header
	response, err := e.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
