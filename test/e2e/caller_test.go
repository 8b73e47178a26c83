package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// caller sends GraphQL to an endpoint, as the one that its token speaks for.
type caller struct{ endpoint, token string }

// answer is an HTTP response.
type answer struct {
	status int
	body   []byte
}

// ask sends a document with variables, which are JSON text or "".
func (c caller) ask(t *testing.T, document, variables string, headers ...string) answer {
	t.Helper()
	return c.post(t, body(document, variables), headers...)
}

// post sends a body as it is. headers are names and values, in turns.
func (c caller) post(t *testing.T, body []byte, headers ...string) answer {
	t.Helper()
	got, err := c.send(t.Context(), body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// send is post for goroutines. Each has a connection of its own.
func (c caller) send(ctx context.Context, body []byte, headers ...string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, body: text}, err
}

// equals reports whether two answers are the same to the client's eye.
func (a answer) equals(b answer) bool { return a.status == b.status && bytes.Equal(a.body, b.body) }

// code is the code of the first error, "" where there is none.
func (a answer) code() string { return codeIn(a.body) }

func codeIn(text []byte) string {
	value := text
	for _, name := range []string{"errors", "0", "extensions", "code"} {
		next, ok := inside(value, name)
		if !ok {
			return ""
		}
		value = next
	}
	return string(bytes.Trim(value, `"`))
}

// within fails the test where something took longer.
func within(t *testing.T, limit time.Duration, what string, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > limit {
		t.Errorf("%s took %v, more than %v", what, took, limit)
	}
}
