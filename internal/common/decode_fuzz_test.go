package common

import (
	"encoding/json"
	"testing"
)

// FuzzDecode decodes arbitrary values as each kind of record: a value that can be decoded can be encoded, and decoded
// again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", "[]", `{"name":"a","uid":"b","cronExpr":"* * * * *","needs":["x"]}`,
		`{"id":"a","fire":"b.1","attempt":1,"plannedAt":"2026-01-01T00:00:00Z"}`,
		`{"worker":"w","lease":7,"conditions":[{"code":"x"}]}`, `{"drain":true,"slots":null,"labels":{}}`,
		`{"a":1e999}`, `{"retry":{"max":"x"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		held[StoredJob](t, data)
		held[Trigger](t, data)
		held[Record](t, data)
		held[Run](t, data)
		held[LateEnd](t, data)
		held[Kill](t, data)
		held[Registration](t, data)
		held[WorkerSettings](t, data)
		held[MasterPresence](t, data)
		held[Findings](t, data)
		held[Change](t, data)
		held[Step](t, data)
		held[Job](t, data)
		held[Head](t, data)
		held[Node](t, data)
	})
}

func held[T any](t *testing.T, data []byte) {
	v, err := Decode[T](data)
	if err != nil {
		return
	}
	written, err := json.Marshal(v)
	if err != nil {
		t.Errorf("%T of %q cannot be written: %v", v, data, err)
		return
	}
	if _, err := Decode[T](written); err != nil {
		t.Errorf("%T of %q cannot be read again: %v", v, data, err)
	}
	if job, ok := any(v).(StoredJob); ok {
		job.Faults()
	}
}
