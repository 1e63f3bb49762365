package common

import (
	"encoding/json"
	"time"
)

// Actor is who asks for a change.
type Actor struct {
	Name   string `json:"name"`             // token or user
	Remote string `json:"remote,omitempty"` // address it came from
}

// Change is the value of /cron/changes/<id>: who changed what, before and after.
type Change struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Actor  Actor           `json:"actor"`
	Verb   string          `json:"verb"` // create, replace, delete, run, kill, bootstrap, login …
	Kind   string          `json:"kind"` // job, run, token …
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Revision is that of etcd at which the change was made: of a job it is its version from
	// then on. It is not in etcd's own copy, which has it as a key's revision.
	Revision int64 `json:"revision,omitempty"`
}

// NewChange makes a change with an id that sorts by time.
func NewChange(now time.Time, actor Actor, verb, kind, name string, before, after any) (Change, error) {
	c := Change{ID: TimeKey(now) + "-" + NewID(), At: now, Actor: actor, Verb: verb, Kind: kind, Name: name}
	for _, side := range []struct {
		from any
		to   *json.RawMessage
	}{{before, &c.Before}, {after, &c.After}} {
		if side.from == nil {
			continue
		}
		data, err := json.Marshal(side.from)
		if err != nil {
			return Change{}, err
		}
		*side.to = data
	}
	return c, nil
}
