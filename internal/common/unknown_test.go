package common

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestEncodeOver(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const meta = `"uid":"u","createdAt":"2026-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z"`
	for name, c := range map[string]struct {
		held, want string
		job        Job
	}{
		"nothing held":     {``, `{"name":"a",` + meta + `}`, Job{Name: "a"}},
		"nothing readable": {`{"name":`, `{"name":"a",` + meta + `}`, Job{Name: "a"}},
		"no object":        {`[1]`, `{"name":"a",` + meta + `}`, Job{Name: "a"}},
		"at the top": {`{"name":"a","needed":{"to":["ops <a&b>"]},"\"odd\"":1e2,"title":"old"}`,
			`{"name":"a",` + meta + `,"needed":{"to":["ops <a&b>"]},"\"odd\"":1e2}`, Job{Name: "a"}},
		"within objects": {
			`{"retry":{"max":1,"jitter":"5s"},"catchUp":{"burst":{"n":3}},"placement":{"selector":"a","spread":[1]},"output":{"format":"json"},"dst":{"gap":"run","fold":null}}`,
			`{"name":"a","dst":{"gap":"skip","fold":null},"output":{"max":"1MiB","format":"json"},"catchUp":{"burst":{"n":3}},"retry":{"max":2,"jitter":"5s"},"placement":{"strategy":"any","spread":[1]},` + meta + `}`,
			Job{
				Name:      "a",
				DST:       &DST{Gap: "skip"},
				Output:    &OutputPolicy{Max: "1MiB"},
				CatchUp:   &CatchUp{},
				Retry:     &Retry{Max: 2},
				Placement: &Placement{Strategy: StrategyAny},
			}},
		"an object that went": {`{"retry":{"max":1,"jitter":"5s"},"catchUp":{"burst":3}}`,
			`{"name":"a","catchUp":{"burst":3},` + meta + `}`, Job{Name: "a", CatchUp: &CatchUp{}}},
		"of another kind": {`{"retry":[1,2],"params":"x","dst":null}`,
			`{"name":"a","dst":{},"params":{"P":{}},"retry":{"max":1},` + meta + `}`, Job{
				Name:   "a",
				DST:    &DST{},
				Retry:  &Retry{Max: 1},
				Params: map[string]Param{"P": {}},
			}},
		"within a map": {
			`{"params":{"DAY":{"default":"x","secret":true},"GONE":{"secret":true}},"env":{"A":"1","B":"2"}}`,
			`{"name":"a","env":{"B":"3"},"params":{"DAY":{"default":"y","secret":true},"NEW":{"default":"z"}},` +
				meta + `}`,
			Job{
				Name:   "a",
				Env:    map[string]string{"B": "3"},
				Params: map[string]Param{"DAY": {Default: "y"}, "NEW": {Default: "z"}},
			}},
		"written in another case": {`{"Command":"old","RETRY":{"max":9}}`, `{"name":"a","command":"new",` + meta + `}`,
			Job{Name: "a", Command: "new"}},
		"lists are the author's": {`{"args":["a","b"],"successExitCodes":[0,3]}`,
			`{"name":"a","args":["c"],` + meta + `}`, Job{Name: "a", Args: []string{"c"}}},
		// StoredJob.NoteNeeds keeps them
		"needs": {`{"needs":["teleport"]}`, `{"name":"a",` + meta + `}`, Job{Name: "a"}},
	} {
		got, err := EncodeOver([]byte(c.held), &StoredJob{Job: c.job, UID: "u", CreatedAt: at, UpdatedAt: at})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, c.want)
		}
	}
}

func TestHoldsUnknown(t *testing.T) {
	for held, want := range map[string]bool{
		``:                        false,
		`{`:                       false,
		`[]`:                      false,
		`{}`:                      false,
		`{"drain":true}`:          false,
		`{"Drain":true}`:          false,
		`{"drain":true,"zone":1}`: true,
	} {
		if HoldsUnknown[WorkerSettings]([]byte(held)) != want {
			t.Errorf("%q: not %v", held, want)
		}
	}
}

// Whatever is held, the result decodes as the new value, a repetition changes nothing, and all unknown top-level fields
// are kept.
func FuzzEncodeOver(f *testing.F) {
	f.Add(`{"name":"a","retry":{"x":1},"y":{"z":[{}]}}`,
		`{"name":"b","retry":{"max":1},"params":{"P":{"default":"d"}}}`)
	f.Add(`{"a":1,"a":2,"":3}`, `{"dst":{}}`)
	f.Add(`{"retry":null,"RETRY":{"q":1}}`, `{"retry":{}}`)
	f.Fuzz(func(t *testing.T, held, saved string) {
		job, err := Decode[StoredJob]([]byte(saved))
		if err != nil {
			t.Skip()
		}
		got, err := EncodeOver([]byte(held), &job)
		if err != nil {
			t.Fatalf("%v", err)
		}
		plain, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Decode[StoredJob](plain)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode[StoredJob](got)
		if err != nil || !reflect.DeepEqual(back, want) {
			t.Fatalf("%v\n%s\nreads back as %+v\nwant          %+v", err, got, back, want)
		}
		again, err := EncodeOver(got, &job)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%v\n%s\nagain\n%s", err, got, again)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal([]byte(held), &before) != nil || json.Unmarshal(got, &after) != nil {
			return
		}
		for name := range before {
			if typesOf(reflect.TypeFor[StoredJob]())(name) == nil && after[name] == nil {
				t.Fatalf("%q is gone from %s", name, got)
			}
		}
	})
}
