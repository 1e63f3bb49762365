package common

import (
	"encoding/json"
	"time"
)

// Actor is who asks for a change.
type Actor struct {
	Name   string `json:"name"`             // token or user
	Remote string `json:"remote,omitempty"` // address it came from
	User   string `json:"user,omitempty"`   // the user who stands behind it
	Token  string `json:"token,omitempty"`  // id of the token that stands behind it
	Note   string `json:"note,omitempty"`   // why, where they said it
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
	// Link is its place in the chain of all changes; nil until it is sealed.
	Link *Link `json:"-"`
}

// Link is a place in the chain of changes. Each link's hash is made of the one before and of
// its own text, so none can be altered, or taken from the midst, without all that come after it.
type Link struct {
	Seq      int64  `json:"seq"`      // the first one is 1
	Previous string `json:"previous"` // hash of the link before, in hex
	Hash     string `json:"hash"`     // SHA-256 of the bytes of Previous and then Text, in hex
	// Text is the change as JSON with the hashes of its sides in their place. It is kept, and
	// hashed, byte for byte.
	Text string `json:"text"`
	// Misfiled says that the log store lists the change by other words, or at another time, than it says.
	Misfiled bool `json:"-"`
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
