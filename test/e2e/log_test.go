package e2e

import (
	"strings"
	"testing"
	"time"
)

// canary is in every place where clients and upstreams write what is theirs.
const canary = "canary-that-no-log-may-hold"

func TestTheLogHoldsNothingThatIsConfidential(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{
			canary + "-data":    says(200, `{"data":{"work":"`+canary+`"}}`),
			canary + "-errors":  says(200, `{"errors":[{"message":"`+canary+`"}]}`),
			canary + "-page":    says(500, "<html>"+canary+"</html>"),
			canary + "-closed":  closes,
			canary + "-limited": first(says(429, canary), says(200, `{"data":{"again":null}}`)),
		})
		n := before(t, store, upstream.url).serve(t)
		ada := n.as(token(t, "ada", ""))
		ids := beBusy(t, ada)
		n.as(ada.token+canary).ask(t, `{ nothing }`, "")
		n.as(strings.Repeat(canary, 3)).refusedSocket(t)
		n.Stop(t)

		log := n.Log()
		for _, id := range ids {
			if !strings.Contains(log, id) {
				t.Errorf("the log does not tell of operation %s", id)
			}
		}
		signature := ada.token[strings.LastIndex(ada.token, ".")+1:]
		for what, secret := range map[string]string{
			"a document, variables, a result or a label": canary, "a token": ada.token, "a token's signature": signature,
			"a secret": secretOne, "the store's address": strings.TrimPrefix(store, "sqlite:"),
		} {
			if at := strings.Index(log, secret); at >= 0 {
				t.Errorf("the log holds %s: %s", what, log[strings.LastIndex(log[:at], "\n")+1:at+len(secret)])
			}
		}
	})
}

// beBusy leads operations to every kind of end, sends what is refused and
// what is synchronous. It answers the ids of what ran.
func beBusy(t *testing.T, ada caller) (ids []string) {
	t.Helper()
	for _, name := range []string{"-data", "-errors", "-page", "-closed", "-not-in-the-script"} {
		ids = append(ids, ada.submit(t, tagged("work", canary+name)).ID)
		ada.ask(t, `mutation ($tag: String!) { work(tag: $tag) }`, object("tag", quote(canary+name)))
	}
	ids = append(ids, ada.submit(t, tagged("again", canary+"-limited")).ID)
	for _, id := range ids {
		ada.subscribe(t, updatesDocument, id).run(t)
	}
	later := instant(time.Now().Add(30 * time.Minute))
	queued := ada.submit(t, input(`mutation { typed(text: "`+canary+`") }`, "label", quote(canary), "idempotencyKey", quote(canary), "notBefore", later))
	ada.ask(t, cancelDocument, object("id", quote(queued.ID)))
	for _, refused := range []string{
		input(`mutation { typed(text: "` + canary + `", idempotencyKey: 1) }`), input(`mutation { ` + canary),
		input(`mutation { typed(text: 1) }`, "variables", quote(canary)), typed("Color", "color", quote(canary)),
		input(`mutation { typed(text: "other") }`, "idempotencyKey", quote(canary)), input(`mutation { typed }`, "notBefore", quote(canary)),
	} {
		if got := ada.trySubmit(t, refused); got.code() == "" {
			t.Errorf("got %s, want a refusal", got.body)
		}
	}
	ada.ask(t, `{ asyncOperation(id: "`+canary+`") { id } asyncOperations(after: "`+canary+`") { nodes { id } } }`, "")
	ada.post(t, []byte(canary))
	return ids
}
