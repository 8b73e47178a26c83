package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"asyncgate/internal/auth"
)

// client calls the nodes of a cluster. It is safe for concurrent use.
type client struct {
	cluster *cluster
	token   string
	http    *http.Client
}

func (c *cluster) client(t *testing.T) *client {
	t.Helper()
	return c.clientOf(t, "")
}

// clientOf is a client of one tenant; "" where there is no tenancy.
func (c *cluster) clientOf(t *testing.T, tenant string) *client {
	t.Helper()
	token, err := auth.Mint(issuer, auth.SecurityContext{Subject: "ada", Tenant: tenant}, 2*time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{cluster: c, token: token, http: &http.Client{Transport: transport}}
}

// hurry is what a node gets to answer, before another is asked.
const hurry = 3 * time.Second

// ask sends a document to the ith node and reads the data of the answer. An
// answer with errors is an error.
func (c *client) ask(ctx context.Context, i int, document string, variables, data any) error {
	ctx, cancel := context.WithTimeout(ctx, hurry)
	defer cancel()
	text, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cluster.node(i).URL, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Data   any
		Errors json.RawMessage
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Errors != nil {
		return fmt.Errorf("status %d: %s", response.StatusCode, answer.Errors)
	}
	return nil
}

// insist asks one node after the other until it has an answer.
func (c *client) insist(ctx context.Context, i int, document string, variables, data any) error {
	deadline := time.After(patience)
	for {
		err := c.ask(ctx, i, document, variables, data)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
			i++
		case <-deadline:
			return err
		}
	}
}

// submit submits until a node has taken it, and answers the handle.
func (c *client) submit(ctx context.Context, i int, s submission) (id string, err error) {
	var data struct{ SubmitAsync struct{ ID string } }
	err = c.insist(ctx, i, `mutation ($input: SubmitAsyncInput!) { submitAsync(input: $input) { id } }`, map[string]any{
		"input": map[string]any{
			"document":       fmt.Sprintf(`mutation ($does: String!, $ms: Int!) { field: %s(does: $does, ms: $ms) }`, s.field),
			"variables":      map[string]any{"does": s.does, "ms": s.ms},
			"idempotencyKey": s.key,
		},
	}, &data)
	return data.SubmitAsync.ID, err
}

// cancel asks for a cancellation until a node has answered.
func (c *client) cancel(ctx context.Context, i int, id string) (cancellation, error) {
	var data struct {
		CancelAsync struct {
			Outcome   string
			Operation struct{ State string }
		}
	}
	err := c.insist(ctx, i, `mutation ($id: ID!) { cancelAsync(id: $id) { outcome operation { state } } }`, map[string]any{"id": id}, &data)
	return cancellation{outcome: data.CancelAsync.Outcome, state: data.CancelAsync.Operation.State, at: time.Now()}, err
}
