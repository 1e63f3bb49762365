package common

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestParams_JSONKeepsTheDeclaredOrder(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a","params":{"TO":{"default":"<b>"},"FROM":{},"BY":{}}}`: `[TO FROM BY]`,
		`{"name":"a","params":{"BY":{},"FROM":{},"TO":{}}}`:                `[BY FROM TO]`, // as older versions stored them
	} {
		job, err := Decode[Job]([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode[Job](again)
		if got := back.Params.Names(); err != nil || len(got) != 3 || "["+got[0]+" "+got[1]+" "+got[2]+"]" != want {
			t.Errorf("%s: %v, %v", again, got, err)
		}
		if back.Params["TO"] != job.Params["TO"] {
			t.Errorf("TO is %v, was %v", back.Params["TO"], job.Params["TO"])
		}
	}
	for _, text := range []string{`{"name":"a"}`, `{"name":"a","params":null}`, `{"name":"a","params":{}}`} {
		if job, err := Decode[Job]([]byte(text)); err != nil || len(job.Params) != 0 {
			t.Errorf("%s: %v, %v", text, job.Params, err)
		}
	}
	if _, err := Decode[Job]([]byte(`{"params":[]}`)); err == nil {
		t.Error("a list is accepted")
	}
}

func TestParams_Arrange_OtherNamesFollow(t *testing.T) {
	made := Params{"C": {}, "B": {}, "A": {}}
	if got := made.Names(); !slices.Equal(got, []string{"A", "B", "C"}) {
		t.Errorf("made by code: %q", got)
	}
	made.Arrange([]string{"C", "NONE", "A", "C"})
	if got := made.Names(); !slices.Equal(got, []string{"C", "A", "B"}) {
		t.Errorf("arranged: %q", got)
	}
}
