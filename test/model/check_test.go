package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// The checker reads etcd's history, the diary and the ledger, as bytes and times. It
// has its own words for the little that it needs of them.

type rawJob struct {
	UID      string `json:"uid"`
	CronExpr string `json:"cronExpr"`
	// Together they fire every minute; see script.define.
	Schedules []struct{} `json:"schedules"`
}

type rawRun struct {
	ID     string    `json:"id"`
	UID    string    `json:"jobUid"`
	Job    string    `json:"job"`
	Fire   string    `json:"fire"`
	Status string    `json:"status"`
	Try    int       `json:"attempt"`
	At     time.Time `json:"plannedAt"`
	Gap    *struct {
		From, To time.Time
		Count    int64
	} `json:"gap"`
	Reason *struct {
		Code string `json:"code"`
	} `json:"reason"`
}

func (r rawRun) text() string {
	code := ""
	if r.Reason != nil {
		code = ": " + r.Reason.Code
	}
	return fmt.Sprintf("%s is %s%s", r.ID, r.Status, code)
}

type rawRecord struct {
	Run, Job, Fire string
	UID            string `json:"jobUid"`
	JobVersion     int64
	Attempt, Base  int
	Owner          struct{ Worker, Life string }
	Policy         struct{ OnLost, Overlap string }
	Flow           *rawNode
	PlannedAt      time.Time
	ClaimedAt      time.Time
}

// uid is that of the job; a record of a node has it elsewhere.
func (r *rawRecord) uid() string {
	if r.Flow != nil {
		return r.Flow.UID
	}
	return r.UID
}

// ofStep reports whether a record is that of an inline step of a flow, which lives as long as its flow run.
func (r *rawRecord) ofStep() bool { return strings.Contains(r.Job, ":") && r.Flow != nil }

// removal is how a record went.
type removal struct {
	record  rawRecord
	at      time.Time
	by      string
	outcome *rawRun // written by the same transaction
	doomed  bool    // there was a kill request for the run
	jobIs   bool    // the job stood, the one that was claimed
	next    bool    // a trigger for the next attempt came with it
}

type rawTrigger struct {
	Fire      string    `json:"fire"`
	Attempt   int       `json:"attempt"`
	UID       string    `json:"jobUid"`
	Cause     string    `json:"cause"`
	PlannedAt time.Time `json:"plannedAt"`
	NotBefore time.Time `json:"notBefore"`
}

// epoch is a time in which a job had one timetable, counted from one cursor.
type epoch struct {
	plan     plan
	from, to time.Time
}

// story is what became of a job from its creation to its end.
type story struct {
	job, uid string
	epochs   []epoch
	lives    bool
	cursor   time.Time
}

// checker gathers what is broken.
type checker struct {
	world  *world
	broken []string
	ahead  bool // some cursor was, which is said once
	// by uid
	stories map[string]*story
	claimed map[string]int64  // by run: the revision of its (last) claim
	records map[string]int    // by run: how often its record was made
	wanted  map[string]string // run or fire that must end somehow, and why
	ledger  map[string]rawRun // the first outcome of each id
	removed map[string]removal
	retaken map[string]int // by run: how often it was taken back
	kin     *kin
	flows   *flowsRead
	daemons *daemonsRead
	until   time.Time
}

func (c *checker) breaks(promise, format string, args ...any) {
	c.broken = append(c.broken, promise+": "+fmt.Sprintf(format, args...))
}

// check tells which promises were broken. until is when every fire should be accounted
// for of the jobs that live.
func check(w *world, until time.Time) []string {
	c := &checker{
		world:   w,
		stories: map[string]*story{},
		records: map[string]int{},
		claimed: map[string]int64{},
		wanted:  map[string]string{},
		ledger:  map[string]rawRun{},
		removed: map[string]removal{},
		retaken: map[string]int{},
		kin:     newKin(),
		flows:   newFlowsRead(),
		daemons: newDaemonsRead(),
		until:   until,
	}
	c.readHistory()
	c.unfired(until)
	c.readLedger()
	c.flowsOver()
	c.outcomes()
	c.fires(until)
	c.claims()
	c.executions()
	c.lost()
	c.attempts()
	c.replicas(until)
	c.pools()
	c.count()
	c.broken = append(c.broken, w.trouble...)
	return c.broken
}

func decode[T any](text string) T {
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return v
}

func timeOf(digits string) time.Time {
	ns, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Unix(0, ns).UTC()
}

// revision is all that one transaction changed.
type revision struct {
	at   time.Time
	keys []event
}

func (r *revision) under(prefix string) (found []event) {
	for _, e := range r.keys {
		if strings.HasPrefix(e.key, prefix) {
			found = append(found, e)
		}
	}
	return found
}

func (c *checker) readHistory() {
	cursors, current := map[string]time.Time{}, map[string]*story{}
	records, doomed := map[string]rawRecord{}, map[string]bool{}
	attempts := map[string]rawTrigger{} // by key: those of planned fires
	history := c.world.history
	for len(history) > 0 {
		n := 1
		for n < len(history) && history[n].rev == history[0].rev {
			n++
		}
		r := revision{history[0].at, history[:n]}
		history = history[n:]
		moved := map[string]bool{}
		before := map[string]time.Time{}
		for _, e := range r.under("/cron/cursor/") {
			job := e.key[len("/cron/cursor/"):]
			before[job] = cursors[job]
			if e.created == 0 {
				continue
			}
			at := timeOf(e.value)
			if s := current[job]; s != nil && s.lives && at.Before(cursors[job]) {
				c.breaks("G1", "the cursor of %s went back from %s to %s", job, wallTime(cursors[job]), wallTime(at))
			}
			if ahead := at.Sub(e.at); ahead > mostAhead && !c.ahead {
				c.ahead = true
				c.breaks("G1", "the cursor of %s is moved %v into the future by %s at %s", job, ahead, e.by,
					wallTime(e.at))
			}
			cursors[job], moved[job] = at, true
		}
		for _, e := range r.under("/cron/jobs/") {
			c.readJob(&r, e, current, cursors, moved)
		}
		for _, e := range r.under("/cron/runs/") {
			run := e.key[strings.LastIndex(e.key, "/")+1:]
			switch e.created {
			case 0:
				c.readRemoval(&r, e, records[run], current[records[run].Job], doomed)
			case e.rev:
				records[run] = decode[rawRecord](e.value)
				c.order(e, records[run], attempts)
				c.records[run]++
				c.claimed[run] = e.rev
				c.wanted[run] = "it was claimed"
			default:
				if owner := records[run].Owner; e.by != owner.Worker+"/"+owner.Life {
					c.breaks("G2", "%s of %s was taken by %s", run, owner.Life, e.by)
				}
				c.retaken[run]++
			}
		}
		for _, e := range r.under("/cron/killer/") {
			doomed[e.key] = e.created != 0
		}
		for _, e := range r.under("/cron/triggers/") {
			if e.created != 0 {
				t := decode[rawTrigger](e.value)
				c.wanted[fmt.Sprintf("%s.%d", t.Fire, t.Attempt)] = "a trigger asked for it"
				if strings.HasSuffix(e.key, fmt.Sprintf("/%s.%d", t.Fire, t.Attempt)) && t.UID != "" &&
					!strings.HasPrefix(t.Fire, t.UID+".t") {
					attempts[e.key] = t
				}
			} else {
				delete(attempts, e.key)
			}
		}
		c.readKin(&r)
		c.readFlows(&r)
		c.readDaemons(&r)
		for _, e := range r.under("/cron/outbox/") {
			if e.created != 0 && !strings.HasSuffix(e.key, ".late") {
				c.wanted[e.key[strings.LastIndex(e.key, "/")+1:]] = "it was in an outbox"
			}
		}
	}
	for job, s := range current {
		if s.lives {
			s.cursor = cursors[job]
			s.epochs[len(s.epochs)-1].to = cursors[job]
		}
	}
}

// order wants a fire of a job that queues its fires to be claimed after the next attempts of earlier ones that are due:
// by the clock of a worker that is not ahead, which two workers may differ about.
func (c *checker) order(claim event, r rawRecord, attempts map[string]rawTrigger) {
	const differ = 15 * time.Second
	if r.Policy.Overlap != "queue" || r.ClaimedAt.Sub(claim.at) > differ {
		return
	}
	for key, t := range attempts {
		if strings.HasPrefix(key, "/cron/triggers/"+r.Job+"/") && t.UID == r.UID && t.PlannedAt.Before(r.PlannedAt) &&
			r.ClaimedAt.Sub(t.NotBefore) > differ {
			c.breaks("order", "%s was claimed at %s, and attempt %d of %s has been due since %s", r.Run,
				wallTime(r.ClaimedAt), t.Attempt, t.Fire, wallTime(t.NotBefore))
		}
	}
}

// readJob takes in that a job was made, saved or deleted.
func (c *checker) readJob(r *revision, e event, current map[string]*story, cursors map[string]time.Time,
	moved map[string]bool) {
	name := e.key[len("/cron/jobs/"):]
	if e.created == 0 {
		s := current[name]
		s.lives = false
		last := &s.epochs[len(s.epochs)-1]
		last.to = cursors[name]
		for _, change := range r.under("/cron/changes/") {
			at := decode[struct{ At time.Time }](change.value).At
			if at.After(last.to) {
				last.to = at
			}
		}
		return
	}
	job := decode[rawJob](e.value)
	line := job.CronExpr
	if len(job.Schedules) > 0 {
		line = minutely
	}
	p := planOf(line)
	if e.created == e.rev {
		s := &story{job: name, uid: job.UID, lives: true, epochs: []epoch{{plan: p, from: cursors[name]}}}
		current[name], c.stories[job.UID] = s, s
		return
	}
	s := current[name]
	last := &s.epochs[len(s.epochs)-1]
	if p == last.plan && !moved[name] {
		return
	}
	last.to = cursors[name]
	s.epochs = append(s.epochs, epoch{plan: p, from: cursors[name]})
}

// readRemoval takes in that a record went.
func (c *checker) readRemoval(r *revision, e event, record rawRecord, job *story, doomed map[string]bool) {
	gone := removal{
		record: record,
		at:     e.at,
		by:     e.by,
		doomed: doomed["/cron/killer/"+record.Owner.Worker+"/"+record.Run],
		jobIs:  job != nil && job.lives && job.uid == record.uid(),
	}
	if record.ofStep() {
		run := c.flows.runs[record.Flow.Run]
		gone.jobIs = run != nil && !run.over
	}
	for _, put := range r.under("/cron/outbox/") {
		if put.created != 0 && strings.HasSuffix(put.key, "/"+record.Run) {
			run := decode[rawRun](put.value)
			gone.outcome = &run
		}
	}
	if gone.outcome == nil && slices.ContainsFunc(r.under("/cron/triggers/"), func(put event) bool {
		return put.created != 0 && strings.HasSuffix(put.key, "/"+record.Run)
	}) { // given back: it may be claimed once more
		c.records[record.Run]--
		c.world.count("given back")
		return
	}
	next := fmt.Sprintf("%s.%d", record.Fire, record.Attempt+1)
	for _, put := range r.under("/cron/triggers/") {
		gone.next = gone.next || put.created != 0 && strings.HasSuffix(put.key, "/"+next)
	}
	if _, before := c.removed[record.Run]; !before {
		c.removed[record.Run] = gone
	}
}

// readLedger wants what was delivered again to be the same.
func (c *checker) readLedger() {
	for id, delivered := range c.world.ledger {
		for i := range delivered {
			data, err := json.Marshal(delivered[i])
			if err != nil {
				panic(err)
			}
			run := decode[rawRun](string(data))
			first, known := c.ledger[id]
			if !known {
				c.ledger[id] = run
			} else if first.text() != run.text() {
				c.breaks("G1", "two outcomes: %s, and then %s", first.text(), run.text())
			}
		}
	}
}

// outcomes checks that each started run has ended, and that each outcome was delivered.
func (c *checker) outcomes() {
	for run, why := range c.wanted {
		if _, ended := c.ledger[run]; ended {
			continue
		}
		if c.kin.waits(run) {
			continue
		}
		if _, replaced := c.ledger[fireOf(run)+".0"]; replaced && why == "a trigger asked for it" {
			continue
		}
		promise := "G1"
		if why == "it was in an outbox" {
			promise = "G5"
		}
		c.breaks(promise, "%s has no outcome: %s", run, why)
	}
	for run, status := range c.world.finished {
		if told := c.ledger[run]; told.Status != string(status) {
			c.breaks("G5", "%s was finished as %s, and the ledger has %q", run, status, told.Status)
		}
	}
}

func fireOf(run string) string { return run[:strings.LastIndex(run, ".")] }

// fires wants each fire to have one entry, and each entry of the plan to have its fire.
func (c *checker) fires(until time.Time) {
	entries := map[string]map[time.Time][]string{} // by uid and planned time: what accounts for it
	add := func(uid string, at time.Time, what string) {
		if entries[uid] == nil {
			entries[uid] = map[time.Time][]string{}
		}
		if !slices.Contains(entries[uid][at], what) {
			entries[uid][at] = append(entries[uid][at], what)
		}
	}
	for _, run := range c.ledger {
		s := c.stories[run.UID]
		if s == nil {
			c.breaks("G1", "%s belongs to no job", run.text())
			continue
		}
		fire, itsOwn := strings.CutPrefix(run.Fire, run.UID+".")
		switch {
		case !itsOwn:
			c.breaks("G1", "%s belongs to %s, whose fire it is not", run.text(), run.UID)
		case run.Gap != nil:
			covered := s.between(run.Gap.From, run.Gap.To)
			if int64(len(covered)) != run.Gap.Count {
				c.breaks("G1", "%s counts %d fires from %s to %s, and there were %d", run.text(), run.Gap.Count,
					wallTime(run.Gap.From), wallTime(run.Gap.To), len(covered))
			}
			for _, at := range covered {
				add(run.UID, at, "the gap "+run.text())
			}
		case strings.ContainsRune("tnbd", rune(fire[0])) || c.flows.filled[run.Fire] && run.Try > 0:
			// Of no plan, or beside the entry that the plan has: that it has an outcome is wanted elsewhere.
		case run.Try == 0:
			add(run.UID, timeOf(fire), run.text())
		default:
			add(run.UID, timeOf(fire), "runs")
		}
	}
	for uid, s := range c.stories {
		for _, at := range s.between(time.Time{}, farAway) {
			switch told := entries[uid][at]; len(told) {
			case 0:
				c.breaks("G1", "the fire of %s (%s) at %s has no entry", s.job, uid, wallTime(at))
			case 1:
			default:
				sort.Strings(told)
				c.breaks("G1", "the fire of %s (%s) at %s has %d entries: %s", s.job, uid, wallTime(at), len(told),
					strings.Join(told, "; "))
			}
			delete(entries[uid], at)
		}
		for at, told := range entries[uid] {
			c.breaks("G1", "%s (%s) has no fire at %s, but: %s", s.job, uid, wallTime(at), strings.Join(told, "; "))
		}
		if last := s.epochs[len(s.epochs)-1]; s.lives && !last.plan.next(s.cursor).After(until) {
			c.breaks("G1", "the fires of %s (%s) after %s are not accounted for", s.job, uid, wallTime(s.cursor))
		}
	}
}

var farAway = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// between are the fires after from, up to and including to.
func (s *story) between(from, to time.Time) (fires []time.Time) {
	for _, e := range s.epochs {
		for at := e.plan.next(e.from); !at.After(e.to); at = e.plan.next(at) {
			if at.After(from) && !at.After(to) {
				fires = append(fires, at)
			}
		}
	}
	return fires
}

// claims wants each attempt to be claimed, and started, once.
func (c *checker) claims() {
	for run, n := range c.records {
		if n > 1 {
			c.breaks("G2", "%s was claimed %d times", run, n)
		}
	}
	began := map[string]int{}
	for _, x := range c.world.diary {
		began[x.run]++
		if c.records[x.run] == 0 {
			c.breaks("G2", "%s ran without a claim", x.run)
		}
		if s := c.ledger[x.run].Status; s == "skipped" || s == "missed" || s == "refused" {
			c.breaks("G1", "%s ran, and the ledger says %s", x.run, c.ledger[x.run].text())
		}
	}
	for run, n := range began {
		if n > 1 {
			c.breaks("G2", "%s was started %d times", run, n)
		}
	}
}

// lost wants the outcome of a run to be that which its record went with, whichever process wrote it:
// what its owner finished is not lost, however often it was cut off before. And it wants
// another attempt of a lost run, if its record re-runs it and there was no kill request.
func (c *checker) lost() {
	for run, gone := range c.removed {
		switch {
		case gone.outcome == nil:
			c.breaks("G1", "the record of %s went at %s by %s, and no outcome came with that", run,
				wallTime(gone.at), gone.by)
			continue
		case c.ledger[run].text() != gone.outcome.text():
			c.breaks("G1", "two outcomes: %s by %s at %s, and %s in the ledger", gone.outcome.text(), gone.by,
				wallTime(gone.at), c.ledger[run].text())
		}
		if gone.outcome.Status != "lost" || gone.outcome.Reason.Code == "claimed_twice" {
			continue
		}
		tries := gone.record.Attempt - gone.record.Base
		if replicaOf(gone.record.Fire) != "" {
			continue // it has no further attempt, but a next start: D-1
		}
		again := gone.record.Policy.OnLost == "rerun" && tries < 3 && gone.jobIs && !gone.doomed
		if gone.next != again {
			c.breaks("G4", "%s of %s by %s at %s: another attempt is %t, and came with it %t", gone.outcome.text(),
				gone.record.Job, gone.by, wallTime(gone.at), again, gone.next)
		}
	}
}

// leftAlone reports whether an execution continues although others resolved it (onLost: detach).
func (c *checker) leftAlone(x *execution) bool { return x.detaches && c.ledger[x.run].Status == "lost" }

// attempts wants those of one fire to come one after the other, whatever the overlap policy.
func (c *checker) attempts() {
	byFire := map[string][]*execution{}
	for _, x := range c.world.diary {
		for _, other := range byFire[x.fire] {
			if other.ended.After(x.began) && x.ended.After(other.began) && !c.leftAlone(other) && !c.leftAlone(x) {
				c.breaks("G3", "two attempts of a fire: %s ran on %s from %s to %s, and %s on %s from %s to %s",
					other.run, other.life, wallTime(other.began),
					wallTime(other.ended), x.run, x.life, wallTime(x.began), wallTime(x.ended))
			}
		}
		byFire[x.fire] = append(byFire[x.fire], x)
	}
}

// count counts what a cluster went through.
func (c *checker) count() {
	n := c.world.counts
	for _, times := range c.retaken {
		n["taken back"] += times
	}
	for run, gone := range c.removed {
		if gone.outcome == nil {
			continue
		}
		if gone.outcome.Status == "lost" {
			n["lost"]++
		} else if c.retaken[run] > 0 {
			n["taken back and finished"]++
		}
		if gone.next && gone.outcome.Status == "lost" {
			n["reruns"]++
		}
	}
	for _, x := range c.world.diary {
		if x.cutOff {
			n["cut off"]++
		}
		if gone := c.removed[x.run]; c.leftAlone(x) && gone.at.Before(x.ended) {
			n["detached"]++
		}
	}
}

// executions wants no two of a job at a time, where the one that was claimed later was so
// under a policy that forbids it.
func (c *checker) executions() {
	byJob := map[string][]*execution{}
	for _, x := range c.world.diary {
		byJob[x.job] = append(byJob[x.job], x)
	}
	for job, all := range byJob {
		slices.SortStableFunc(all, func(a, b *execution) int { return cmp.Compare(c.claimed[a.run], c.claimed[b.run]) })
		for i, later := range all {
			if !later.forbids {
				continue
			}
			for _, earlier := range all[:i] {
				if earlier.ended.After(later.began) && later.ended.After(earlier.began) && !c.leftAlone(earlier) {
					c.breaks("G3", "%s: %s ran on %s from %s to %s, and %s on %s from %s to %s", job, earlier.run,
						earlier.life, wallTime(earlier.began),
						wallTime(earlier.ended), later.run, later.life, wallTime(later.began), wallTime(later.ended))
				}
			}
		}
	}
}

func wallTime(t time.Time) string { return t.UTC().Format("15:04:05.000") }
