package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var submitRules = map[string]rule{
	"EveryFieldComesBack":               everyFieldComesBack,
	"AbsentFieldsStayAbsent":            absentFieldsStayAbsent,
	"StartBeforeCountsFromTheLaterTime": startBeforeCountsFromLater,
	"AnswersComeInOrder":                answersInOrder,
	"AnEmptyBatchIsNothing":             emptyBatch,
	"ABadRowFailsNoNeighbour":           badRowFailsNoNeighbour,
	"ACancelledContextIsAnError":        cancelledContext,
}

// awkward is a submission whose every byte matters.
func awkward(s *asyncop.Submission) {
	retried := uuid.Must(uuid.NewV7())
	s.Authority = json.RawMessage(`{"z": 9007199254740993,  "a":"\u0000", "roles":["é<>&"]}`)
	s.Mutations = []string{"generateReport", "importCatalog"}
	s.OperationName = "Both"
	s.Document = "mutation Both {\r\n\t# ☃ 😀 <b>&\n  generateReport(s: \"\\u0000 ' $1\") { id }\n  importCatalog { id }\n}\n"
	s.Variables = json.RawMessage("{ \"z\":9007199254740993,\"a\": 1.10 ,\"n\":\"\\u0000\",\"e\":1E400,\"t\":\"😀<\",\"a\":2}")
	s.Label = "it's, \"a\" {label} 😀"
	s.Idempotent = true
	s.IdempotencyKey = "key,{}\\'\""
	s.Priority = 9
	s.MaxAttempts = 7
	s.NotBefore = at(-time.Second)
	s.StartBefore = at(time.Hour)
	s.TraceContext = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s.RetryOf = &retried
}

func everyFieldComesBack(t *testing.T, f fixture) {
	s := submission(awkward)
	answered := f.submitAll(t, s)[0]
	if answered.Err != nil || answered.Replayed {
		t.Fatalf("submitted: replayed %v, %v", answered.Replayed, answered.Err)
	}
	want := asyncop.Operation{
		ID: s.ID, State: asyncop.Queued, Revision: answered.Operation.Revision,
		Tenant: s.Tenant, Issuer: s.Issuer, Subject: s.Subject,
		Mutations: s.Mutations, OperationName: s.OperationName, Document: s.Document,
		Variables: s.Variables, Label: s.Label, Idempotent: true,
		IdempotencyKey: s.IdempotencyKey, RetryOf: s.RetryOf, Priority: 9, MaxAttempts: 7,
		CreatedAt: answered.Operation.CreatedAt, NotBefore: *s.NotBefore, StartBefore: *s.StartBefore,
	}
	expect(t, "answered", answered.Operation, want)
	expect(t, "read", f.get(t, s.ID), want)

	claim := f.claimOne(t)
	expect(t, "authority", string(claim.Authority), string(s.Authority))
	expect(t, "trace context", claim.TraceContext, s.TraceContext)
	expect(t, "variables", string(claim.Operation.Variables), string(s.Variables))

	result := json.RawMessage("{ \"data\":{\"b\":9007199254740993, \"a\":1.10},\"extensions\":{\"t\":\"\\u0000😀<\"} }\n")
	f.finish(t, claim, asyncop.Succeed(result))
	expect(t, "result", string(f.get(t, s.ID).Result), string(result))
}

func absentFieldsStayAbsent(t *testing.T, f fixture) {
	op := f.submit(t)
	read := f.get(t, op.ID)
	expect(t, "read", read, op)
	if read.Variables != nil || read.Result != nil || read.RetryOf != nil || read.Failure != nil ||
		read.StartedAt != nil || read.FinishedAt != nil || len(read.AttemptLog) != 0 {
		t.Errorf("a fresh operation has what it cannot have: %+v", read)
	}
	if read.Revision < 1 {
		t.Errorf("revision %d, want at least 1", read.Revision)
	}
	for name, instant := range map[string]time.Time{"created": read.CreatedAt, "not before": read.NotBefore, "start before": read.StartBefore} {
		if instant.Location() != time.UTC {
			t.Errorf("%s is in %s, want UTC", name, instant.Location())
		}
	}
}

func startBeforeCountsFromLater(t *testing.T, f fixture) {
	soon := f.submit(t)
	if !soon.NotBefore.Equal(soon.CreatedAt) {
		t.Errorf("not before %s, want the creation %s", soon.NotBefore, soon.CreatedAt)
	}
	expect(t, "from the creation", soon.StartBefore, soon.CreatedAt.Add(time.Hour))
	later := f.submit(t, notYet)
	expect(t, "from the schedule", later.StartBefore, later.NotBefore.Add(time.Hour))
	past := f.submit(t, func(s *asyncop.Submission) { s.NotBefore = at(-time.Hour) })
	expect(t, "from the creation after a past schedule", past.StartBefore, past.CreatedAt.Add(time.Hour))
}

func answersInOrder(t *testing.T, f fixture) {
	batch := make([]asyncop.Submission, 50)
	for i := range batch {
		batch[len(batch)-1-i] = submission() // newest id first
	}
	for i, submitted := range f.submitAll(t, batch...) {
		expect(t, "id", submitted.Operation.ID, batch[i].ID)
	}
}

func emptyBatch(t *testing.T, f fixture) {
	f.submitAll(t)
	if settled, err := f.store.Finish(t.Context(), nil); err != nil || len(settled) != 0 {
		t.Errorf("finish nothing: %v, %v", settled, err)
	}
	if revisions, err := f.store.Revisions(t.Context(), nil); err != nil || len(revisions) != 0 {
		t.Errorf("revisions of nothing: %v, %v", revisions, err)
	}
	if claims := f.claim(t, node, 10); len(claims) != 0 {
		t.Errorf("%d claims in an empty store", len(claims))
	}
}

// badRowFailsNoNeighbour sends what Admit refuses already. A store may keep it
// or refuse it, but alone.
func badRowFailsNoNeighbour(t *testing.T, f fixture) {
	before, bad, after := submission(), submission(), submission()
	bad.Document = "mutation { a\x00b }"
	submitted := f.submitAll(t, before, bad, after)
	for _, i := range []int{0, 2} {
		if submitted[i].Err != nil {
			t.Errorf("neighbour %d: %v", i, submitted[i].Err)
		}
	}
	expect(t, "before", f.get(t, before.ID).State, asyncop.Queued)
	expect(t, "after", f.get(t, after.ID).State, asyncop.Queued)
	if submitted[1].Err == nil {
		expect(t, "document", f.get(t, bad.ID).Document, bad.Document)
	}
}

func cancelledContext(t *testing.T, f fixture) {
	op := f.submit(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.store.Submit(ctx, []asyncop.Submission{submission()}); err == nil {
		t.Error("submit answered under a cancelled context")
	}
	if _, err := f.store.Get(ctx, everything, op.ID); err == nil {
		t.Error("get answered under a cancelled context")
	}
	if _, err := f.store.Claim(ctx, asyncop.Intake{Node: node, Limit: 1, Look: true}); err == nil {
		t.Error("claim answered under a cancelled context")
	}
	if _, err := f.store.Cancel(ctx, everything, op.ID); err == nil {
		t.Error("cancel answered under a cancelled context")
	}
	expect(t, "state", f.get(t, op.ID).State, asyncop.Queued)
	if err := f.store.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
}
