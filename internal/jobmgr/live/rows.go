package live

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
)

// outcomeFields holds the fields of an outcome that the index reads.
type outcomeFields struct {
	ID        string        `json:"id"`
	Job       string        `json:"job"`
	JobUID    string        `json:"jobUid"`
	Group     string        `json:"group"`
	Fire      string        `json:"fire"`
	PlannedAt time.Time     `json:"plannedAt"`
	Cause     common.Cause  `json:"cause"`
	Attempt   int           `json:"attempt"`
	Status    common.Status `json:"status"`
	Worker    string        `json:"worker"`
	ExitCode  *int          `json:"exitCode"`
	Flow      *struct {
		Run string `json:"run"`
	} `json:"flow"`
}

// outboxJob holds the fields that the outcomes of a job share: those of nodes, within one flow run.
type outboxJob struct{ name, uid, group, flow string }

// outboxRow is an outcome in the index: 56 bytes.
type outboxRow struct {
	job     *outboxJob // nil: the row is free
	id      string     // of the run, if it cannot be derived from the other fields
	planned int64      // Unix nanoseconds
	exit    int32      // noExit if there is none
	owner   uint32     // of the outbox; an index into names
	worker  uint32     // that executed the run; an index into names
	next    uint32     // the next row of the same chain; 0: none
	attempt uint16
	round   uint16 // of the last list that contained it
	status  uint8  // an index into common.Statuses
	cause   uint8  // an index into common.Causes
	gap     bool   // a gap entry: the id of its fire is the id of the run
	shared  bool   // its chain has, or had, other rows
}

const noExit = -1 << 31

// appendID appends the id of the run.
func (r *outboxRow) appendID(to []byte) []byte {
	if r.id != "" {
		return append(to, r.id...)
	}
	to = append(append(to, r.job.uid...), '.')
	to = append(to, common.TimeKey(time.Unix(0, r.planned))...)
	return strconv.AppendUint(append(to, '.'), uint64(r.attempt), 10)
}

func (r *outboxRow) runID() string {
	if r.id != "" {
		return r.id
	}
	return string(r.appendID(nil))
}

// fire returns the id of its fire.
func (r *outboxRow) fire() string {
	id := r.runID()
	if r.gap {
		return id
	}
	return stemOf(id)
}

// stemOf returns the id of a run without its attempt.
func stemOf(run string) string {
	if i := strings.LastIndexByte(run, '.'); i >= 0 {
		return run[:i]
	}
	return run
}

// compareRows orders rows as lists do: it returns a negative number if a is newer.
func compareRows(a, b *outboxRow) int {
	switch {
	case a.planned > b.planned:
		return -1
	case a.planned < b.planned:
		return 1
	}
	var x, y [128]byte
	return bytes.Compare(b.appendID(y[:0]), a.appendID(x[:0]))
}

// outboxRows is the table of the index. Rows lie in blocks; those of one fire form a chain, which is found by
// a hash of the run's id without its attempt. It is guarded by the lock of Outboxes.
type outboxRows struct {
	blocks [][]outboxRow
	free   []uint32
	used   uint32 // rows that were ever used; the first one is 1
	count  int
	chains map[uint64]uint32
	seed   maphash.Seed
	jobs   map[outboxJob]*outboxJob
	names  []string
	ids    map[string]uint32 // indexes into names
}

const outboxBlock = 4096

func newOutboxRows() *outboxRows {
	return &outboxRows{
		used:   1,
		chains: map[uint64]uint32{},
		seed:   maphash.MakeSeed(),
		jobs:   map[outboxJob]*outboxJob{},
		ids:    map[string]uint32{},
	}
}

func (t *outboxRows) at(n uint32) *outboxRow { return &t.blocks[n/outboxBlock][n%outboxBlock] }

func (t *outboxRows) name(name string) uint32 {
	n, known := t.ids[name]
	if !known {
		n = uint32(len(t.names))
		name = strings.Clone(name)
		t.names, t.ids[name] = append(t.names, name), n
	}
	return n
}

// job returns the shared fields of a job's outcomes.
func (t *outboxRows) job(o *outcomeFields) *outboxJob {
	key := outboxJob{name: o.Job, uid: o.JobUID, group: o.Group}
	if o.Flow != nil {
		key.flow = o.Flow.Run
	}
	shared := t.jobs[key]
	if shared == nil {
		shared = &outboxJob{strings.Clone(key.name), strings.Clone(key.uid), strings.Clone(key.group),
			strings.Clone(key.flow)}
		t.jobs[*shared] = shared
	}
	return shared
}

// find returns the row of a run in an outbox; 0 if there is none.
func (t *outboxRows) find(owner, id string) uint32 {
	name, known := t.ids[owner]
	if !known {
		return 0
	}
	var text [128]byte
	for n := t.chains[maphash.String(t.seed, stemOf(id))]; n != 0; n = t.at(n).next {
		if r := t.at(n); r.owner == name && string(r.appendID(text[:0])) == id {
			return n
		}
	}
	return 0
}

// chain returns the rows whose ids have a stem.
func (t *outboxRows) chain(stem string) (rows []*outboxRow) {
	for n := t.chains[maphash.String(t.seed, stem)]; n != 0; n = t.at(n).next {
		if r := t.at(n); stemOf(r.runID()) == stem {
			rows = append(rows, r)
		}
	}
	return rows
}

// put adds an outcome of an outbox.
func (t *outboxRows) put(owner string, o *outcomeFields, round uint16) {
	n := t.find(owner, o.ID)
	if n == 0 {
		n = t.take()
		hash := maphash.String(t.seed, stemOf(o.ID))
		first := t.chains[hash]
		for other := first; other != 0; other = t.at(other).next {
			t.at(other).shared = true
		}
		t.at(n).next, t.at(n).shared = first, first != 0
		t.chains[hash] = n
		t.count++
	}
	r := t.at(n)
	next, shared := r.next, r.shared
	*r = outboxRow{
		job:     t.job(o),
		planned: o.PlannedAt.UnixNano(),
		exit:    noExit,
		owner:   t.name(owner),
		worker:  t.name(o.Worker),
		next:    next,
		shared:  shared,
		attempt: uint16(o.Attempt),
		round:   round,
		gap:     o.Fire == o.ID,
		status:  uint8(slices.Index(common.Statuses[:], o.Status)),
		cause:   uint8(slices.Index(common.Causes[:], o.Cause)),
	}
	if o.ExitCode != nil {
		r.exit = int32(*o.ExitCode)
	}
	if string(r.appendID(nil)) != o.ID {
		r.id = strings.Clone(o.ID)
	}
}

// take returns a free row.
func (t *outboxRows) take() uint32 {
	if last := len(t.free) - 1; last >= 0 {
		n := t.free[last]
		t.free = t.free[:last]
		return n
	}
	n := t.used
	t.used++
	if n/outboxBlock == uint32(len(t.blocks)) {
		t.blocks = append(t.blocks, make([]outboxRow, outboxBlock))
	}
	return n
}

// drop removes an outcome.
func (t *outboxRows) drop(owner, id string) {
	if n := t.find(owner, id); n != 0 {
		t.remove(n, maphash.String(t.seed, stemOf(id)))
	}
}

func (t *outboxRows) remove(n uint32, hash uint64) {
	r := t.at(n)
	if first := t.chains[hash]; first != n {
		for before := first; ; before = t.at(before).next {
			if t.at(before).next == n {
				t.at(before).next = r.next
				break
			}
		}
	} else if r.next == 0 {
		delete(t.chains, hash)
	} else {
		t.chains[hash] = r.next
	}
	*r = outboxRow{}
	t.free = append(t.free, n)
	if t.count--; t.count == 0 {
		*t = *newOutboxRows() // releases the memory of a backlog
	}
}

// sweep drops the rows that the list of a round did not contain.
func (t *outboxRows) sweep(round uint16) {
	for n := uint32(1); n < t.used; n++ {
		if r := t.at(n); r.job != nil && r.round != round {
			t.remove(n, maphash.String(t.seed, stemOf(r.runID())))
		}
	}
}

// each visits all rows, the last added ones first if lastFirst is set: mostly these are the newest.
func (t *outboxRows) each(lastFirst bool, visit func(*outboxRow)) {
	for i := range t.used {
		n := i
		if lastFirst {
			n = t.used - 1 - i
		}
		if n == 0 {
			continue // free
		}
		if r := t.at(n); r.job != nil {
			visit(r)
		}
	}
}
