package jobs

import (
	"encoding/json"
	"testing"

	"carillon/internal/common"
)

const fuzzedJob = `{"name":"a","cronExpr":"30 2 * * *","command":"true"}`

// FuzzMergePatch patches a job: what comes of it is a job, or is refused, and an empty patch changes nothing.
func FuzzMergePatch(f *testing.F) {
	for _, seed := range []string{`{}`, `{"env":{"A":null,"B":"x"}}`, `{"retry":{"max":3},"args":null}`, `[]`, `null`,
		`{"meta":{}}`, `{"a":{"b":{"c":null}}}`, `{"timeout":1}`} {
		f.Add([]byte(fuzzedJob), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, job, patch []byte) {
		var old common.Job
		if json.Unmarshal(job, &old) != nil {
			return
		}
		if made, err := patched(&old, patch); err == nil {
			made.Faults()
			if _, err := json.Marshal(made); err != nil {
				t.Error(err)
			}
		}
		same, err := patched(&old, []byte(`{}`))
		before, _ := json.Marshal(old)
		if after, _ := json.Marshal(same); err != nil || string(after) != string(before) {
			t.Errorf("%s becomes %s: %v", before, after, err)
		}
	})
}
