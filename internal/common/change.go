package common

import (
	"encoding/json"
	"slices"
	"time"
)

// Actor is the author of a change.
type Actor struct {
	Name   string `json:"name" doc:"Name of the user, token or process." example:"ada"`
	Remote string `json:"remote,omitempty" doc:"Client address." example:"192.0.2.7"`
	User   string `json:"user,omitempty" doc:"The user, if any."`
	Token  string `json:"token,omitempty" doc:"Id of the token used, if any."`
	Note   string `json:"note,omitempty" doc:"Reason given."`
	// Request is what the changes of one request have in common; versions before have left it out.
	Request string `json:"request,omitempty" doc:"Id of the API request, as in the server's log. The changes of one request on many objects have the same."`
}

// Starters returns the persons who started something that others have started so far.
func (a *Actor) Starters(others []string) []string {
	who := a.Person()
	if who == "" || slices.Contains(others, who) {
		return others
	}
	return append(slices.Clone(others), who)
}

// Person identifies who an actor is: a user with all of their tokens and sessions, or a token that belongs to no user.
// It is empty for a process.
func (a *Actor) Person() string {
	switch {
	case a.User != "":
		return a.User
	case a.Token != "":
		return "token/" + a.Token
	}
	return ""
}

// Change is the value of /cron/changes/<id>, an audit entry: who changed what, with the object before and after.
type Change struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Actor  Actor           `json:"actor"`
	Verb   string          `json:"verb"` // create, replace, delete, run, kill, bootstrap, login …
	Kind   string          `json:"kind"` // job, run, token …
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Revision is the etcd revision of the change; for a job, its version from then on. The value in etcd lacks it:
	// there it is the key's revision.
	Revision int64 `json:"revision,omitempty"`
	// Link is its place in the audit chain; nil until it is sealed.
	Link *Link `json:"-"`
}

// Link is a place in the audit chain. Its hash covers the previous link's hash and its own text, so that no link can be
// altered, or removed from the middle, without all later ones.
type Link struct {
	Seq      int64  `json:"seq"`      // starts at 1
	Previous string `json:"previous"` // hash of the previous link, in hex
	Hash     string `json:"hash"`     // SHA-256 of the bytes of Previous and then Text, in hex
	// Text is the change as JSON, with Before and After replaced by their hashes. It is stored and hashed byte for
	// byte.
	Text string `json:"text"`
	// Misfiled reports that the fields by which the log store lists the change differ from the hashed ones.
	Misfiled bool `json:"-"`
}

// NewChange returns a change with an id that sorts by time.
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
