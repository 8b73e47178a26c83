package e2e

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
	"asyncgate/test/upstreams"
)

func TestWhatOutlastsTheDrainIsRecoveredAtOnce(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"once": hangs, "twice": first(hangs, says(200, `{"data":{"again":"fine"}}`))})
		g := before(t, store, upstream.url).with(t, oneUpstream, "drain_timeout: 15s", "drain_timeout: 1s")
		n := g.serve(t)
		ada := n.as(token(t, "ada", ""))
		once, twice := ada.submit(t, tagged("work", "once")), ada.submit(t, tagged("again", "twice"))
		eventually(t, "both run", func() bool { return upstream.count("once") == 1 && upstream.count("twice") == 1 })
		stopping := time.Now()
		n.Stop(t)
		within(t, 10*time.Second, "the stop", stopping)

		ada = g.serve(t).as(ada.token)
		ada.get(t, once.ID, "0").ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
		ada.await(t, twice.ID).ended(t, "SUCCEEDED", "", "", 2)
	})
}

// A subscription that the stop of the hub ended was once taken for one that had
// failed or completed.
func TestAStopIsNoEndOfASubscription(t *testing.T) {
	t.Parallel()
	upstream := perform(t, map[string]act{"endless": hangs})
	n := before(t, stores["SQLite"](t), upstream.url).with(t, oneUpstream, "drain_timeout: 15s", "drain_timeout: 1s").serve(t)
	ada := n.as(token(t, "ada", ""))
	op := ada.submit(t, tagged("work", "endless"))
	eventually(t, "it runs", func() bool { return upstream.count("endless") == 1 })

	var sockets []*socket
	for range 15 {
		results, updates := ada.subscribe(t, resultDocument, op.ID), ada.subscribe(t, updatesDocument, op.ID)
		if first := updates.receive(t); first.Type != "next" {
			t.Errorf("got %+v", first)
		}
		sockets = append(sockets, results, updates)
	}
	streams := []*http.Response{ada.stream(t, resultDocument, op.ID), ada.stream(t, updatesDocument, op.ID)}
	n.Signal(syscall.SIGTERM)
	for _, s := range sockets {
		for {
			_, text, err := s.conn.ReadMessage()
			if closing, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // gorilla never wraps it
				if closing.Code != websocket.CloseServiceRestart {
					t.Errorf("closed with %d", closing.Code)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), `"type":"next"`) || strings.Contains(string(text), "WAIT_TIMEOUT") {
				t.Errorf("before the close came %s", text)
			}
		}
	}
	for _, stream := range streams {
		text, err := io.ReadAll(stream.Body)
		if err != nil || strings.Contains(string(text), "event: complete") || strings.Contains(string(text), `"errors"`) {
			t.Errorf("the stream ended with %s, %v", text, err)
		}
	}
	<-n.Ended()
}

// stream opens a subscription over server-sent events.
func (c caller) stream(t *testing.T, document, id string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.endpoint, bytes.NewReader(body(document, object("id", quote(id)))))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Authorization", "Bearer "+c.token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestASecondSignalEndsTheGatewayAtOnce(t *testing.T) {
	t.Parallel()
	upstream := perform(t, map[string]act{"endless": hangs})
	g := before(t, stores["SQLite"](t), upstream.url)
	n := g.serve(t)
	ada := n.as(token(t, "ada", ""))
	op := ada.submit(t, tagged("work", "endless"))
	eventually(t, "it runs", func() bool { return upstream.count("endless") == 1 })
	signalling := time.Now()
	eventually(t, "the gateway has ended", func() bool { // signals that come at once may count as one
		n.Signal(syscall.SIGTERM)
		select {
		case <-n.Ended():
			return true
		default:
			return false
		}
	})
	within(t, 5*time.Second, "the end", signalling)
	g.serve(t).as(ada.token).get(t, op.ID, "0").ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
}

func TestASecondNodeOnOneFileIsRefused(t *testing.T) {
	t.Parallel()
	g := before(t, stores["SQLite"](t), perform(t, nil).url)
	g.serve(t)
	second := gateway.Run(t, binary, g.environment(), "serve", "--config", g.path)
	<-second.Ended()
	if code, said := second.ExitCode(), second.Log(); code != 1 || !strings.Contains(said, "in use by another gateway") {
		t.Errorf("it ended with %d and said %s", code, said)
	}
}

func TestAnOutageOfTheDatabaseLosesNoOutcome(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	yoga := upstreams.Yoga(t)
	n := beforeYoga(t, cluster.NewDatabase(t), yoga, yoga).serve(t)
	ada := n.as(token(t, "ada", "globex"))
	ended, running := ada.submit(t, slow("1", t.Name()+"-ended")), ada.submit(t, slow("8", t.Name()+"-running"))
	watching := []*socket{ada.subscribe(t, resultDocument, ended.ID), ada.subscribe(t, resultDocument, running.ID)}
	began(t, yoga, t.Name()+"-ended")
	began(t, yoga, t.Name()+"-running")
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := ada.ask(t, getDocument, object("id", quote(ended.ID))); got.code() != "UNAVAILABLE" {
		t.Errorf("without a database it answers %s", got.body)
	}
	<-time.After(4 * time.Second) // longer than stale_after
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	for _, s := range watching {
		s.result(t).ended(t, "SUCCEEDED", "", "", 1)
	}
	for _, name := range []string{"-ended", "-running"} {
		if n := calls(t, yoga, t.Name()+name); n != "1" {
			t.Errorf("%s was called %s times", name, n)
		}
	}
}
