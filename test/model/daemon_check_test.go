package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// keylessFor is how long a wanted replica may be without a key where no worker is disturbed: D-2.
	keylessFor = 75 * time.Second
	// seenLate is how long ago a definition may be that a process acts on.
	seenLate = 60 * time.Second
	// balancedFor is how long there must have been no handover that balances the workers, in the end: D-4.
	balancedFor = 60 * time.Second
)

// rawDaemonJob is what the checker needs of a job. Its definitions of a run are equal where all but Daemon are.
type rawDaemonJob struct {
	UID         string `json:"uid"`
	Command     string
	KillGrace   string
	LostAfter   string
	RestartedAt time.Time
	Daemon      *rawDaemon
}

type rawDaemon struct {
	Count        json.RawMessage
	HealthyAfter string
}

func (d *rawDaemon) healthyAfter() time.Duration {
	healthy, err := time.ParseDuration(d.HealthyAfter)
	if err != nil {
		panic(err)
	}
	return healthy
}

type rawMove struct {
	Job, Replica, Run, Worker, Reason string
	Version                           int64
}

// replicaOf is the uid and the name of the replica that a fire is one of; empty for other fires.
func replicaOf(fire string) string {
	at := strings.LastIndex(fire, ".")
	if at < 0 || !strings.Contains(fire[:at], ".d") {
		return ""
	}
	return fire[:at]
}

// replicaLife is what became of a replica.
type replicaLife struct {
	name, job string // its uid and name, and the job
	keys      map[string]bool
	since     time.Time // since when it has its last key, or none
	run       string    // its record, and
	runs      rawRecord
	began     time.Time // since when it is there
	version   int64     // of its job
	wanted    bool
	changed   time.Time // since when that is so
}

// wantedSince reports whether the job wanted it at some time after a moment, and unwantedSince whether it did not.
func (l *replicaLife) wantedSince(t time.Time) bool   { return l.wanted || l.changed.After(t) }
func (l *replicaLife) unwantedSince(t time.Time) bool { return !l.wanted || l.changed.After(t) }

// move is a handover.
type move struct {
	rawMove
	at, until time.Time // until the successor was healthy, or nothing was promised any more; zero: it goes on
	ended     bool      // it has ended the run
	loads     map[string]int
	changes   int // of the loads
}

// daemonsRead is what the checker knows of daemon jobs while it reads the history.
type daemonsRead struct {
	jobs     map[string]rawDaemonJob
	versions map[string]rawDaemonJob // by job and version
	version  map[string]int64        // by job: the present one
	replicas map[string]*replicaLife // by uid and name
	workers  map[string]bool         // that are registered
	drained  map[string]bool
	over     bool             // the jobs are about to be deleted
	moves    map[string]*move // by job: the one of the present key
	all      []*move
	balances []time.Time
	loads    map[string]int // by worker: the slots of its daemons
	changed  []time.Time    // when that changed
}

func newDaemonsRead() *daemonsRead {
	return &daemonsRead{jobs: map[string]rawDaemonJob{}, versions: map[string]rawDaemonJob{},
		version: map[string]int64{}, replicas: map[string]*replicaLife{}, workers: map[string]bool{},
		drained: map[string]bool{}, moves: map[string]*move{}, loads: map[string]int{}}
}

// wants reports whether a job has a replica.
func (d *daemonsRead) wants(job, replica string) bool {
	j := d.jobs[job]
	name, own := strings.CutPrefix(replica, j.UID+".d")
	if !own || j.Daemon == nil {
		return false
	}
	if d.ofWorker(job, replica) {
		worker := name[1:]
		return d.workers[worker] && !d.drained[worker]
	}
	if string(j.Daemon.Count) == `"all"` {
		return false
	}
	count, err := strconv.Atoi(string(j.Daemon.Count))
	if err != nil {
		panic(err)
	}
	index, err := strconv.Atoi(name)
	return err == nil && index >= 0 && index < count
}

// ofWorker reports whether a replica is that of one worker. Under "all" its job wants it whether that worker lives or
// not: who starts it again looks at the job alone.
func (d *daemonsRead) ofWorker(job, replica string) bool {
	j := d.jobs[job]
	return j.Daemon != nil && string(j.Daemon.Count) == `"all"` && strings.HasPrefix(replica, j.UID+".d-")
}

// names are those of the replicas that a job has.
func (d *daemonsRead) names(job string) (names []string) {
	j := d.jobs[job]
	if j.Daemon == nil {
		return nil
	}
	for worker := range d.workers {
		names = append(names, j.UID+".d-"+worker)
	}
	for i := range 10 {
		names = append(names, fmt.Sprintf("%s.d%03d", j.UID, i))
	}
	return slices.DeleteFunc(names, func(name string) bool { return !d.wants(job, name) })
}

func (d *daemonsRead) replica(job, name string, at time.Time) *replicaLife {
	if d.replicas[name] == nil {
		d.replicas[name] = &replicaLife{name: name, job: job, keys: map[string]bool{}, since: at, changed: at,
			wanted: d.wants(job, name)}
	}
	return d.replicas[name]
}

// readDaemons checks what one revision did to the replicas of daemon jobs.
func (c *checker) readDaemons(r *revision) {
	d := c.daemons
	if c.world.daemons == nil {
		return
	}
	if !d.over && r.at.After(c.until) {
		d.over = true
		c.settled()
	}
	c.readWanted(r)
	touched := map[*replicaLife]bool{}
	for _, e := range append(r.under("/cron/triggers/"), r.under("/cron/runs/")...) {
		job, id, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(e.key, "/cron/triggers/"), "/cron/runs/"), "/")
		name := replicaOf(fireOf(id))
		if name == "" {
			continue
		}
		l := d.replica(job, name, e.at)
		if before := len(l.keys) > 0; !before && e.created != 0 {
			c.keyless(l, e.at)
		}
		touched[l] = true
		if e.created == 0 {
			delete(l.keys, e.key)
		} else {
			l.keys[e.key] = true
		}
		if strings.HasPrefix(e.key, "/cron/runs/") {
			c.readReplicaRun(r, e, l)
		}
	}
	for l := range touched {
		c.readKeys(r, l)
	}
	c.readMoves(r)
}

// readWanted takes in which replicas the jobs have.
func (c *checker) readWanted(r *revision) {
	d, changed := c.daemons, false
	for _, e := range r.under("/cron/jobs/") {
		name := e.key[len("/cron/jobs/"):]
		changed = true
		d.version[name] = e.rev
		if delete(d.jobs, name); e.created != 0 {
			d.jobs[name] = decode[rawDaemonJob](e.value)
			d.versions[fmt.Sprintf("%s/%d", name, e.rev)] = d.jobs[name]
		}
		for _, m := range d.all { // saving a job releases the key of its handover
			if m.Job == name && m.until.IsZero() {
				m.until = e.at
			}
		}
	}
	for _, e := range r.under("/cron/workers/") {
		worker := e.key[len("/cron/workers/"):]
		changed = changed || d.workers[worker] != (e.created != 0)
		d.workers[worker] = e.created != 0
	}
	for _, e := range r.under("/cron/settings/workers/") {
		changed = true
		d.drained[e.key[len("/cron/settings/workers/"):]] = strings.Contains(e.value, `"drain":true`)
	}
	if !changed {
		return
	}
	for job := range d.jobs {
		for _, name := range d.names(job) {
			d.replica(job, name, r.at)
		}
	}
	for _, l := range d.replicas {
		if wanted := d.wants(l.job, l.name); wanted != l.wanted {
			if len(l.keys) == 0 && l.wanted {
				c.keyless(l, r.at)
			}
			l.wanted, l.changed = wanted, r.at
		}
	}
}

// keyless checks the time in which a replica had no key: D-2.
func (c *checker) keyless(l *replicaLife, until time.Time) {
	from := l.since
	if l.changed.After(from) {
		from = l.changed
	}
	if !l.wanted {
		return
	}
	if well := c.world.wellFor(from, until); well > keylessFor {
		c.breaks("D-2", "%s of %s had no key from %s to %s, in which no worker was disturbed for %v", l.name, l.job,
			wallTime(from), wallTime(until), well)
	}
}

// wellFor is for how long no worker was disturbed between two moments.
func (w *world) wellFor(from, until time.Time) (well time.Duration) {
	at := from
	for _, ill := range w.ills { // in the order in which they began
		if ill.from.After(until) {
			break
		}
		if ill.from.After(at) {
			well += ill.from.Sub(at)
		}
		if ill.to.After(at) {
			at = ill.to
		}
	}
	return well + max(0, until.Sub(at))
}

// readReplicaRun takes in that a run of a replica has begun or ended.
func (c *checker) readReplicaRun(r *revision, e event, l *replicaLife) {
	d := c.daemons
	change := func(worker string, by int) {
		d.loads[worker] += by
		d.changed = append(d.changed, e.at)
	}
	switch {
	case e.created == e.rev:
		l.run, l.runs, l.began = e.key[strings.LastIndex(e.key, "/")+1:], decode[rawRecord](e.value), e.at
		change(l.runs.Owner.Worker, slotsOf(l.job))
	case e.created != 0:
	default:
		run := e.key[strings.LastIndex(e.key, "/")+1:]
		if run != l.run {
			return // there were two
		}
		change(l.runs.Owner.Worker, -slotsOf(l.job))
		c.complete(l, e.at)
		if l.run = ""; !takenDown(r, run) {
			return
		}
		for _, m := range slices.Backward(d.all) { // an earlier key may have been given up
			if m.Run == run {
				m.ended = true
				return
			}
		}
		c.breaks("D-3", "%s was taken down at %s by %s, without a handover", run, wallTime(e.at), e.by)
	}
}

// replica is the uid and the name of the replica of a handover.
func (m *move) replica() string { return replicaOf(fireOf(m.Run)) }

// complete ends the handovers of a replica whose run has lasted for long enough.
func (c *checker) complete(l *replicaLife, now time.Time) {
	if healthy := c.healthy(l); l.run != "" && !healthy.After(now) {
		for _, m := range c.daemons.all {
			if m.until.IsZero() && m.replica() == l.name && m.Run != l.run {
				m.until = healthy
			}
		}
	}
}

// healthy is when the run of a replica has lasted for long enough.
func (c *checker) healthy(l *replicaLife) time.Time {
	j := c.daemons.jobs[l.job]
	if j.Daemon == nil {
		return l.began
	}
	return l.began.Add(j.Daemon.healthyAfter())
}

// takenDown reports whether a run ended because of a handover.
func takenDown(r *revision, run string) bool {
	for _, e := range r.under("/cron/outbox/") {
		if e.created != 0 && strings.HasSuffix(e.key, "/"+run) {
			end := decode[rawRun](e.value)
			return end.Status == "killed" && end.Reason != nil &&
				(end.Reason.Code == "moved" || end.Reason.Code == "updated")
		}
	}
	return false
}

// readKeys wants a replica to have one key, and to lose it only where it is not wanted: D-1.
func (c *checker) readKeys(r *revision, l *replicaLife) {
	d, by := c.daemons, r.keys[0].by
	if len(l.keys) > 1 {
		c.breaks("D-1", "%s of %s has %v at %s by %s", l.name, l.job, slices.Sorted(maps.Keys(l.keys)), wallTime(r.at),
			by)
	}
	before := l.since
	l.since = r.at
	ended, next := endOf(r, l), len(l.keys) > 0
	lives := strings.HasPrefix(l.name, d.jobs[l.job].UID+".d")
	recent := before.Add(-seenLate)
	switch {
	case ended == nil:
	case next && ended.Status == "lost" && lives && !d.ofWorker(l.job, l.name) && !l.wantedSince(r.at.Add(-seenLate)):
		c.breaks("wanted", "%s of %s is started again at %s by %s, and has not been wanted since %s", l.name, l.job,
			wallTime(r.at), by, wallTime(l.changed))
	}
	if next || !lives {
		return
	}
	if ended != nil && l.unwantedSince(recent) && (ended.Status == "lost" ||
		ended.Reason != nil && ended.Reason.Code == "scaled_down") {
		return
	}
	end := "it did not end"
	if ended != nil {
		end = ended.text()
	}
	c.breaks("D-1", "%s of %s lost its key at %s by %s: %s", l.name, l.job, wallTime(r.at), by, end)
}

// endOf is the outcome of a fire of a replica that a revision put; nil if there is none.
func endOf(r *revision, l *replicaLife) *rawRun {
	for _, e := range r.under("/cron/outbox/") {
		if id := e.key[strings.LastIndex(e.key, "/")+1:]; e.created != 0 && !strings.HasSuffix(id, ".late") &&
			replicaOf(fireOf(id)) == l.name {
			run := decode[rawRun](e.value)
			return &run
		}
	}
	return nil
}

// readMoves takes in that the key of a handover was put or went.
func (c *checker) readMoves(r *revision) {
	d := c.daemons
	for _, e := range r.under("/cron/moves/job/") {
		job := e.key[len("/cron/moves/job/"):]
		m := d.moves[job]
		if e.created != 0 {
			for _, l := range d.replicas {
				c.complete(l, e.at)
			}
			m = &move{rawMove: decode[rawMove](e.value), at: e.at, loads: maps.Clone(d.loads), changes: len(d.changed)}
			if m.Version != d.version[job] {
				m.until = e.at // its worker releases it once it sees the job that was saved since
			}
			d.moves[job], d.all = m, append(d.all, m)
			if m.Reason == "balance" {
				d.balances = append(d.balances, e.at)
			}
			continue
		}
		delete(d.moves, job)
		if m == nil {
			continue
		}
		if e.by == "lease" && m.until.IsZero() { // its worker is gone: recovery does the rest
			m.until = e.at
		}
		c.balanced(e, m)
	}
}

// balanced wants a handover that balances the workers to lower the sum of the squares of the slots in use: D-4. It is
// certain only where nothing else has changed.
func (c *checker) balanced(e event, m *move) {
	d, l := c.daemons, c.daemons.replicas[m.replica()]
	still := c.world.calmAt.Add(stillAfter)
	if m.Reason != "balance" || !m.ended || l == nil || l.run == "" || m.at.Before(still) ||
		len(d.changed) != m.changes+2 || m.changes > 0 && m.at.Sub(d.changed[m.changes-1]) < 3*time.Second {
		return
	}
	from, to := m.Worker, l.runs.Owner.Worker
	if m.loads[from]-m.loads[to] < 2*slotsOf(m.Job) {
		c.breaks("D-4", "%s of %s was handed over at %s by %s, which used %d slots, to %s, which used %d", m.Run, m.Job,
			wallTime(m.at), from, m.loads[from], to, m.loads[to])
	}
	c.world.count("handovers that lowered the squares")
}

// settled wants all replicas to run in the end, with the present definitions, and no handover to go on.
func (c *checker) settled() {
	d := c.daemons
	for _, l := range d.replicas {
		now := d.jobs[l.job]
		if !l.wanted {
			continue
		}
		if l.run == "" {
			c.breaks("D-2", "%s of %s does not run in the end", l.name, l.job)
			continue
		}
		was := d.versions[fmt.Sprintf("%s/%d", l.job, l.runs.JobVersion)]
		if was.Daemon, now.Daemon = nil, nil; was != now {
			c.breaks("update", "%s of %s runs in the end as of version %d", l.run, l.job, l.runs.JobVersion)
		}
	}
	for job, m := range d.moves {
		if m.at.Before(c.until.Add(-balancedFor)) {
			c.breaks("update", "the handover of %s of %s has not ended since %s", m.Run, job, wallTime(m.at))
		}
	}
}

// replicas checks what can only be known in the end.
func (c *checker) replicas(until time.Time) {
	d := c.daemons
	if c.world.daemons == nil {
		return
	}
	c.handovers()
	for _, at := range d.balances {
		if at.After(until.Add(-balancedFor)) && at.Before(until) {
			c.breaks("D-4", "rebalancing has not ended at %s", wallTime(at))
			break
		}
	}
	byReplica := map[string][]*execution{}
	for _, x := range c.world.diary {
		name := replicaOf(x.fire)
		for _, other := range byReplica[name] {
			if other.ended.After(x.began) && x.ended.After(other.began) {
				c.breaks("D-1", "two runs of a replica: %s ran on %s from %s to %s, and %s on %s from %s to %s",
					other.run, other.life, wallTime(other.began), wallTime(other.ended), x.run, x.life,
					wallTime(x.began), wallTime(x.ended))
			}
		}
		byReplica[name] = append(byReplica[name], x)
	}
	outcomes := map[string]string{}
	for id, run := range c.ledger {
		if other := outcomes[run.Fire]; other != "" {
			c.breaks("D-5", "a start has two outcomes: %s, and %s", other, run.text())
		}
		outcomes[run.Fire] = c.ledger[id].text()
	}
}

// handovers wants no two replicas of a job to be taken down at a time: D-3.
func (c *checker) handovers() {
	d := c.daemons
	for i, m := range d.all {
		if m.ended {
			c.world.count("handovers")
		}
		for _, later := range d.all[i+1:] {
			if m.Job == later.Job && m.ended && later.ended && (m.until.IsZero() || m.until.After(later.at)) {
				c.breaks("D-3", "%s: %s is handed over by %s from %s to %s, and %s by %s at %s", m.Job, m.Run, m.Worker,
					wallTime(m.at), wallTime(m.until), later.Run, later.Worker, wallTime(later.at))
			}
		}
	}
}
