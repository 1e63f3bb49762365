// Package entry defines the form in which every log store keeps entries, so that the stores agree on what
// they accept and return.
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

// Check refuses, with common.CodeInvalid, a batch that no store can keep: an entry without an id, a run that
// has not ended (it would block its own outcome), a chunk that is too large or that has both data and missing
// bytes.
func Check(b *runlog.Batch) error {
	for i := range b.Chunks {
		c := &b.Chunks[i]
		switch {
		case c.Run == "":
			return refuse("a chunk of output without a run")
		case !keyable(c.Run, string(c.Stream)):
			return refuse("a chunk of output with a key that is not valid UTF-8")
		case c.Offset < 0 || c.Missing < 0 || c.End() < c.Offset:
			return refuse("a chunk of run %.80q with an invalid offset", c.Run)
		case len(c.Data) > common.MaxChunk:
			return refuse("a chunk of run %.80q with %d bytes", c.Run, len(c.Data))
		case len(c.Data) > 0 && c.Missing > 0:
			return refuse("a chunk of run %.80q with both data and missing bytes", c.Run)
		}
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		switch {
		case r.ID == "":
			return refuse("a run without an id")
		case !keyable(r.ID, r.Job, r.JobUID, r.Group, r.Worker, string(r.Status), string(r.Cause),
			flowRunOf(r)):
			return refuse("run %.80q with a field that is not valid UTF-8", r.ID)
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
			return refuse("change %.80q with a field that is not valid UTF-8", c.ID)
		case c.Link != nil && (c.Link.Seq < 1 || !keyable(c.Link.Previous, c.Link.Hash, c.Link.Text)):
			return refuse("change %.80q with an invalid position in the chain", c.ID)
		}
	}
	for i := range b.Late {
		switch l := &b.Late[i]; {
		case l.Run == "":
			return refuse("a late end without a run")
		case !keyable(l.Run):
			return refuse("a late end with a run id that is not valid UTF-8")
		case !l.Status.Terminal():
			return refuse("a late end of run %.80q, which has not ended", l.Run)
		}
	}
	for i := range b.Usage {
		switch u := &b.Usage[i]; {
		case u.Run == "":
			return refuse("samples without a run")
		case !keyable(u.Run):
			return refuse("samples with a run id that is not valid UTF-8")
		case len(u.Samples) == 0 || len(u.Samples) > common.MaxUsageSamples:
			return refuse("%d samples of run %.80q", len(u.Samples), u.Run)
		}
	}
	return nil
}

func flowRunOf(r *common.Run) string {
	if r.Flow == nil {
		return ""
	}
	return r.Flow.Run
}

func refuse(format string, args ...any) error {
	return common.Errorf(common.CodeInvalid, "the run log does not accept "+format, args...)
}

// keyable reports whether texts can be compared and indexed alike by every store.
func keyable(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// Keyable reports whether a query can match: an entry with a field that is not valid UTF-8 is never stored.
func Keyable(q *runlog.Query) bool {
	before := ""
	if q.Before != nil {
		before = q.Before.ID
	}
	return keyable(q.Job, q.JobUID, q.Group, q.Fire, q.Worker, string(q.Cause), q.FlowRun, q.Step, before)
}

// RunsOf returns the bounds of the ids of a fire's runs, low inclusive and high exclusive: they begin with
// the fire's id and a dot, and the next character is a slash; the id of a gap entry is the fire's own.
func RunsOf(fire string) (low, high string) { return fire, fire + "/" }

// Statuses returns the distinct statuses of a query that a store can hold. narrowed reports whether the query
// named any; then an empty list matches no run.
func Statuses(q *runlog.Query) (statuses []common.Status, narrowed bool) {
	for _, s := range common.Statuses {
		if s.Terminal() && slices.Contains(q.Statuses, s) {
			statuses = append(statuses, s)
		}
	}
	return statuses, len(q.Statuses) > 0
}

// Nanos returns a time as Unix nanoseconds, so that stores sort it exactly. Times that do not fit (before
// 1678, after 2262) become the nearest that does, and the zero time becomes the smallest.
func Nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Time returns the time that Nanos encoded.
func Time(ns int64) time.Time {
	if ns == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// EncodeRun encodes a run as the document that a store keeps.
func EncodeRun(r *common.Run) (string, error) {
	doc, err := json.Marshal(r)
	if err != nil {
		return "", refuse("run %.80q: %v", r.ID, err)
	}
	return string(doc), nil
}

// DecodeRun decodes a run's document.
func DecodeRun(doc string) (common.Run, error) {
	r, err := common.Decode[common.Run]([]byte(doc))
	if err != nil {
		return common.Run{}, fmt.Errorf("decode a stored run: %w", err)
	}
	return r, nil
}

// EncodeLate encodes a late end as the document that is stored.
func EncodeLate(l *common.LateEnd) (string, error) {
	doc, err := json.Marshal(l)
	if err != nil {
		return "", refuse("the late end of run %.80q: %v", l.Run, err)
	}
	return string(doc), nil
}

// Orphans adds the stored late ends to the runs that may have one. find returns the documents of a bounded
// number of ids, in any order.
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

// orphansAtOnce is how many late ends are read in one statement.
const orphansAtOnce = 500

// EncodeChange encodes a change as a document without its values before and after, which a store keeps beside
// it byte for byte: JSON inside JSON would be reformatted. For a sealed change the document is the text of
// its link, which is hashed.
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

// ChangesOf returns the bounds of the ids of a query for changes, low inclusive and high exclusive, either
// empty for none: an id begins with its time.
func ChangesOf(q *runlog.ChangeQuery) (low, high string) {
	if !q.From.IsZero() {
		low = common.TimeKey(q.From)
	}
	if high = q.Before; !q.To.IsZero() && (high == "" || common.TimeKey(q.To) < high) {
		high = common.TimeKey(q.To)
	}
	return low, high
}

// Filed holds the fields by which a store lists a change.
type Filed struct {
	ID, Kind, Name string
	// these and At: absent in changes of an older version, which are then filtered by their documents
	Verb, Actor string
	At          int64 // Unix nanoseconds
}

// FiledAs returns the fields by which a change is to be listed.
func FiledAs(c *common.Change) Filed {
	return Filed{ID: c.ID, Kind: c.Kind, Name: c.Name, Verb: c.Verb, Actor: c.Actor.Name, At: Nanos(c.At)}
}

// as reports whether the fields match the contents of a change.
func (f Filed) as(c *common.Change) bool {
	should := FiledAs(c)
	if f.Verb == "" && f.Actor == "" && f.At == 0 {
		should.Verb, should.Actor, should.At = "", "", 0
	}
	return f == should
}

// DecodeSealed decodes a change; seq is not zero if it is sealed.
func DecodeSealed(doc string, before, after []byte, seq int64, previous, hash string,
	filed Filed) (common.Change, error) {
	c, err := DecodeChange(doc, before, after)
	if seq != 0 {
		c.Link = &common.Link{
			Seq:      seq,
			Previous: previous,
			Hash:     hash,
			Text:     doc,
			Misfiled: err == nil && !filed.as(&c),
		}
	}
	return c, err
}

// DecodeChange decodes a change's document and adds the values before and after.
func DecodeChange(doc string, before, after []byte) (common.Change, error) {
	c, err := common.Decode[common.Change]([]byte(doc))
	if err != nil {
		return common.Change{}, fmt.Errorf("decode a stored change: %w", err)
	}
	c.Before, c.After = Side(before), Side(after)
	return c, nil
}

// Side returns one value of a change as stores keep it: nil for empty.
func Side(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return data
}

// Budget decides how many chunks one answer holds: at most Limit bytes, but at least one chunk.
type Budget struct {
	Limit int
	used  int
	taken bool
}

// Take reports whether the next chunk fits into the answer.
func (b *Budget) Take(c *common.Chunk) bool {
	if b.taken && b.used+len(c.Data) > b.Limit {
		return false
	}
	b.taken = true
	b.used += len(c.Data)
	return true
}
