// Package entry is the form in which every log store keeps what it is given, so
// that the stores agree on what they take and on what comes back.
//
// It promises that a run or a change that was encoded decodes to the same value,
// fields unknown to a store's columns included. It is pure: no goroutine, no I/O.
package entry

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Check refuses, with common.CodeInvalid, a batch that no store could keep: an
// entry without an id, a run that has not ended (it would stand in the way of
// its own outcome), a chunk that is too large or that both holds and lacks bytes.
func Check(b *runlog.Batch) error {
	for i := range b.Chunks {
		c := &b.Chunks[i]
		switch {
		case c.Run == "":
			return refuse("a chunk of output without a run")
		case !keyable(c.Run, string(c.Stream)):
			return refuse("a chunk of output with a key that is not text")
		case c.Offset < 0 || c.Missing < 0 || c.End() < c.Offset:
			return refuse("a chunk of run %.80q with an impossible place", c.Run)
		case len(c.Data) > common.MaxChunk:
			return refuse("a chunk of run %.80q with %d bytes", c.Run, len(c.Data))
		case len(c.Data) > 0 && c.Missing > 0:
			return refuse("a chunk of run %.80q that both holds and lacks bytes", c.Run)
		}
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		switch {
		case r.ID == "":
			return refuse("a run without an id")
		case !keyable(r.ID, r.Job, r.JobUID, r.Group, r.Worker, string(r.Status), string(r.Cause)):
			return refuse("run %.80q with a field that is not text", r.ID)
		case !r.Status.Terminal():
			return refuse("run %.80q, which has not ended", r.ID)
		}
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		switch {
		case c.ID == "":
			return refuse("a change without an id")
		case !keyable(c.ID, c.Kind, c.Name):
			return refuse("change %.80q with a field that is not text", c.ID)
		case c.Link != nil && (c.Link.Seq < 1 || !keyable(c.Link.Previous, c.Link.Hash, c.Link.Text)):
			return refuse("change %.80q with a place in the chain that is none", c.ID)
		}
	}
	for i := range b.Late {
		switch l := &b.Late[i]; {
		case l.Run == "":
			return refuse("a late end without a run")
		case !keyable(l.Run):
			return refuse("a late end with a run's id that is not text")
		case !l.Status.Terminal():
			return refuse("a late end of run %.80q, which has not ended", l.Run)
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return common.Errorf(common.CodeInvalid, "the run log does not take "+format, args...)
}

// keyable tells whether texts can be compared and indexed alike by every store.
func keyable(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// Keyable tells whether a query may be asked: an entry with a field that is not
// valid UTF-8 is never stored, so none can be found.
func Keyable(q *runlog.Query) bool {
	before := ""
	if q.Before != nil {
		before = q.Before.ID
	}
	return keyable(q.Job, q.JobUID, q.Group, q.Fire, q.Worker, string(q.Cause), before)
}

// RunsOf are the bounds of the ids of a fire's runs, low inclusive and high exclusive:
// they begin with the fire's id and a dot, after which a slash comes; that of a gap's
// entry is the fire's own.
func RunsOf(fire string) (low, high string) { return fire, fire + "/" }

// Statuses are the distinct statuses that a query asks for and that a store can
// hold. Narrowed tells whether the query asked for any; then none means no run.
func Statuses(q *runlog.Query) (statuses []common.Status, narrowed bool) {
	for _, s := range common.Statuses {
		if s.Terminal() && slices.Contains(q.Statuses, s) {
			statuses = append(statuses, s)
		}
	}
	return statuses, len(q.Statuses) > 0
}

// Nanos is a time as Unix nanoseconds, so that stores sort it exactly. Times that
// do not fit (before 1678, after 2262) become the nearest that does, and the zero
// time becomes the smallest.
func Nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Time reads what Nanos wrote.
func Time(ns int64) time.Time {
	if ns == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// EncodeRun writes a run as the document that a store keeps.
func EncodeRun(r *common.Run) (string, error) {
	doc, err := json.Marshal(r)
	if err != nil {
		return "", refuse("run %.80q: %v", r.ID, err)
	}
	return string(doc), nil
}

// DecodeRun reads a run's document.
func DecodeRun(doc string) (common.Run, error) {
	r, err := common.Decode[common.Run]([]byte(doc))
	if err != nil {
		return common.Run{}, fmt.Errorf("decode a stored run: %w", err)
	}
	return r, nil
}

// EncodeLate writes a late end as the document that is stored.
func EncodeLate(l *common.LateEnd) (string, error) {
	doc, err := json.Marshal(l)
	if err != nil {
		return "", refuse("the late end of run %.80q: %v", l.Run, err)
	}
	return string(doc), nil
}

// Orphans puts the late ends that a store has beside those of the runs that may have
// one. find gives the documents that belong to so many ids at most, in any order.
func Orphans(runs []common.Run, find func(ids []string) ([]string, error)) error {
	var ids []string
	at := map[string]int{}
	for i := range runs {
		runs[i].Orphaned = nil
		if runs[i].Status == common.StatusLost {
			ids, at[runs[i].ID] = append(ids, runs[i].ID), i
		}
	}
	for part := range slices.Chunk(ids, orphansAtOnce) {
		docs, err := find(part)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			late, err := common.Decode[common.LateEnd]([]byte(doc))
			if err != nil {
				return fmt.Errorf("decode a stored late end: %w", err)
			}
			if i, asked := at[late.Run]; asked {
				runs[i].Orphaned = &late
			}
		}
	}
	return nil
}

// orphansAtOnce is how many late ends are asked for in one statement.
const orphansAtOnce = 500

// EncodeChange writes a change as a document without its two sides, which a store
// keeps beside it byte for byte: JSON inside JSON would come back reformatted. Of one that
// is sealed the document is the text of its link, which is hashed.
func EncodeChange(c *common.Change) (string, error) {
	if c.Link != nil {
		return c.Link.Text, nil
	}
	bare := *c
	bare.Before, bare.After = nil, nil
	doc, err := json.Marshal(&bare)
	if err != nil {
		return "", refuse("change %.80q: %v", c.ID, err)
	}
	return string(doc), nil
}

// ChangesOf are the bounds of the ids that a query for changes asks for, low inclusive and high
// exclusive, either empty for none: an id begins with its time.
func ChangesOf(q *runlog.ChangeQuery) (low, high string) {
	if !q.From.IsZero() {
		low = common.TimeKey(q.From)
	}
	if high = q.Before; !q.To.IsZero() && (high == "" || common.TimeKey(q.To) < high) {
		high = common.TimeKey(q.To)
	}
	return low, high
}

// Filed is by what a store lists a change.
type Filed struct {
	ID, Kind, Name string
	Verb, Actor    string // these and At: a change that an older version wrote may have none, and is then found by its document
	At             int64  // Unix nanoseconds
}

// FiledAs is by what a change is to be listed.
func FiledAs(c *common.Change) Filed {
	return Filed{ID: c.ID, Kind: c.Kind, Name: c.Name, Verb: c.Verb, Actor: c.Actor.Name, At: Nanos(c.At)}
}

// as reports whether a change is listed by what it says.
func (f Filed) as(c *common.Change) bool {
	should := FiledAs(c)
	if f.Verb == "" && f.Actor == "" && f.At == 0 {
		should.Verb, should.Actor, should.At = "", "", 0
	}
	return f == should
}

// DecodeSealed reads the document of a change that is sealed, if seq says so.
func DecodeSealed(doc string, before, after []byte, seq int64, previous, hash string, filed Filed) (common.Change, error) {
	c, err := DecodeChange(doc, before, after)
	if seq != 0 {
		c.Link = &common.Link{Seq: seq, Previous: previous, Hash: hash, Text: doc, Misfiled: err == nil && !filed.as(&c)}
	}
	return c, err
}

// DecodeChange reads a change's document and puts its sides back.
func DecodeChange(doc string, before, after []byte) (common.Change, error) {
	c, err := common.Decode[common.Change]([]byte(doc))
	if err != nil {
		return common.Change{}, fmt.Errorf("decode a stored change: %w", err)
	}
	c.Before, c.After = Side(before), Side(after)
	return c, nil
}

// Side is one side of a change as stores keep it: nothing rather than empty.
func Side(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return data
}

// Budget decides how many chunks one answer holds: at most Limit bytes, but
// at least one chunk.
type Budget struct {
	Limit int
	used  int
	taken bool
}

// Take tells whether the next chunk still belongs to the answer.
func (b *Budget) Take(c *common.Chunk) bool {
	if b.taken && b.used+len(c.Data) > b.Limit {
		return false
	}
	b.taken = true
	b.used += len(c.Data)
	return true
}
