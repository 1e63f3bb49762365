package common

import (
	"encoding/json"
	"strings"
	"testing"
)

// A version that knows further fields may have stored an output; this one must still read the job.
func TestOutput_JSON_IsAValueWhereItHasNothingElse(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`{}`, `{}`},
		{`null`, `{}`},
		{`{"list":true,"required":true}`, `{"list":true,"required":true}`},
		{`"${{ steps.a.outputs.day }} & <b>"`, `"${{ steps.a.outputs.day }} & <b>"`},
		{`{"value":"x"}`, `"x"`},
		{`{"value":"x","required":true}`, `{"required":true,"value":"x"}`},
		{`{"required":true,"later":1}`, `{"required":true}`},
		{`7`, ""},
		{`["a"]`, ""},
	} {
		var outputs map[string]Output
		err := json.Unmarshal([]byte(`{"a":`+c.in+`}`), &outputs)
		if (err != nil) != (c.out == "") {
			t.Errorf("%s: %v", c.in, err)
		}
		if c.out == "" || err != nil {
			continue
		}
		if out, err := outputs["a"].MarshalJSON(); err != nil || string(out) != c.out {
			t.Errorf("%s becomes %s, %v, want %s", c.in, out, err, c.out)
		}
	}
}

func TestFaults_FieldsOfAFlow_AreRejectedInAJobWithoutSteps(t *testing.T) {
	job := &Job{Name: "j", Command: "true", Outputs: map[string]Output{"day": {Value: "x"}}, Concurrency: 2,
		FailFast: true}
	var got strings.Builder
	for _, f := range job.Faults() {
		got.WriteString(f.Location + " " + f.Code + " ")
	}
	const want = "outputs.day exclusive concurrency exclusive failFast exclusive "
	if got.String() != want {
		t.Errorf("faults are %s, want %s", got.String(), want)
	}
	if job.Faults()[0].Hint == "" {
		t.Error("the fault of a value has no hint")
	}
}
