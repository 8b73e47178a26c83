package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"asyncgate/internal/executor/raw"
)

// compare sends a document both ways and tells whether the answers differ.
func (p *pair) compare(t *testing.T, d document) {
	t.Helper()
	body := d.body()
	want := p.direct.post(t, body)
	if !isExecuted(want) {
		t.Errorf("%s: the server refuses it\nsent   %s\nanswer %s", d.name, body, want)
		return
	}
	p.judge(t, d, want, p.through.post(t, body))
}

// judge counts a document, and a difference between its two answers.
func (p *pair) judge(t *testing.T, d document, want, got []byte) {
	t.Helper()
	if d.isAnsweredAnew(t) {
		want, got = withErrors(want, withoutLocations), withErrors(got, withoutLocations)
	}
	if p.unordered {
		want, got = withErrors(want, sorted), withErrors(got, sorted)
	}
	same := bytes.Equal(want, got)
	p.tally.add(same)
	if !same {
		t.Errorf("%s\nsent    %s\nanswer  %s\nthrough %s", d.name, d.body(), want, got)
	}
}

// isExecuted reports whether the server ran a document: there is data, if only
// null, or the document is not for this server.
func isExecuted(answer []byte) bool {
	members, err := raw.Object(answer)
	data, ok := raw.Get(members, "data")
	if err != nil || !ok {
		return false
	}
	list, _ := raw.Get(members, "errors")
	return !raw.IsNull(data) || bytes.Contains(list, []byte(`"path":`))
}

// withErrors is an answer with other errors, and the rest as it is.
func withErrors(answer []byte, change func(errors []json.RawMessage) []json.RawMessage) []byte {
	members, err := raw.Object(answer)
	if err != nil {
		return answer
	}
	for i, member := range members {
		if member.Name != "errors" {
			continue
		}
		list, err := raw.Array(member.Value)
		if err != nil {
			return answer
		}
		members[i].Value = slices.Concat([]byte{'['}, bytes.Join(asBytes(change(list)), []byte{','}), []byte{']'})
	}
	return writeObject(members)
}

func asBytes(values []json.RawMessage) [][]byte {
	texts := make([][]byte, len(values))
	for i, value := range values {
		texts[i] = value
	}
	return texts
}

func withoutLocations(errors []json.RawMessage) []json.RawMessage {
	for i, e := range errors {
		if members, err := raw.Object(e); err == nil {
			errors[i] = writeObject(slices.DeleteFunc(members, func(m raw.Member) bool { return m.Name == "locations" }))
		}
	}
	return errors
}

func sorted(errors []json.RawMessage) []json.RawMessage {
	slices.SortFunc(errors, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return errors
}

func writeObject(members []raw.Member) []byte {
	var text bytes.Buffer
	for i, member := range members {
		text.WriteByte("{,"[min(i, 1)])
		text.Write(raw.Quote(member.Name))
		text.WriteByte(':')
		text.Write(member.Value)
	}
	text.WriteByte('}')
	return text.Bytes()
}
