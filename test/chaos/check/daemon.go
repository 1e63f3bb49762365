package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AllWorkers is the number of replicas of a job with one on each worker.
const AllWorkers = -1

// Daemon describes a daemon job that the harness sent.
type Daemon struct {
	Wanted  []Wanted `json:"wanted"`
	Workers []string `json:"workers,omitempty"` // ids of all workers, if it has a replica on each
}

// Wanted is a period in which a daemon job is known to have a number of replicas: from the answer to the request that
// set it until the next request.
type Wanted struct {
	From  Boot `json:"from"`
	Until Boot `json:"until"`
	Count int  `json:"count"`
}

// replicas returns the names of the replicas, as in the ids of their runs.
func (d *Daemon) replicas(w *Wanted) (names []string) {
	if w.Count == AllWorkers {
		for _, worker := range d.Workers {
			names = append(names, "-"+worker)
		}
	}
	for i := range w.Count {
		names = append(names, fmt.Sprintf("%03d", i))
	}
	return names
}

// replicaOf returns the name of the replica that a run of a daemon job is one of.
func replicaOf(run string) string {
	_, rest, _ := strings.Cut(run, ".d")
	replica, _, _ := strings.Cut(rest, ".")
	return replica
}

// span is a period.
type span struct{ from, to Boot }

// daemons checks that each wanted replica of each daemon job runs, but for the time that troubles and restarts may
// take, and that handovers of a job follow each other.
func (j *judge) daemons() {
	for i := range j.Jobs {
		job := &j.Jobs[i]
		if job.Daemon == nil {
			continue
		}
		of := map[string][]*command{} // by replica, in order of start
		for _, c := range j.order {
			if j.jobOf(c.Run) == job {
				of[replicaOf(c.Run)] = append(of[replicaOf(c.Run)], c)
				j.report.Replicas++
			}
		}
		for k := range job.Daemon.Wanted {
			w := &job.Daemon.Wanted[k]
			for _, replica := range job.Daemon.replicas(w) {
				j.present(job, w, replica, of[replica])
			}
		}
		j.handovers(job, of)
	}
}

// present checks one replica in a period in which it is wanted.
func (j *judge) present(job *Job, w *Wanted, replica string, commands []*command) {
	excused := j.absences(job, replica)
	at := w.From
	gap := func(until Boot, next *command) {
		until = min(until, w.Until)
		if until <= at {
			return
		}
		missing := until.Sub(at)
		for _, s := range excused {
			missing -= max(0, min(s.to, until).Sub(max(s.from, at)))
		}
		if missing > j.Restart {
			j.broken(Absent, job.Name, "replica "+replica, "did not run for %v before %v, of which nothing explains %v",
				until.Sub(at).Round(time.Millisecond), time.Duration(until), missing.Round(time.Millisecond))
		}
		if next != nil && len(excused) > 0 && at > w.From {
			j.replaced = append(j.replaced, until.Sub(at))
		}
	}
	for _, c := range commands {
		gap(c.At, c)
		at = max(at, c.last)
	}
	gap(w.Until, nil)
}

// absences returns the periods in which a replica need not run, joined: while a fault or a change lasts, and as long
// after a fault as the loss of a run takes until it is noticed.
func (j *judge) absences(job *Job, replica string) (all []span) {
	worker, one := strings.CutPrefix(replica, "-")
	for i := range j.Journal {
		e := &j.Journal[i]
		switch e.Kind {
		case Seen, Triggered, Undelivered, WorkerStarted:
			continue
		}
		if e.Job != "" && e.Job != job.Name || one && e.Worker != "" && e.Worker != worker {
			continue
		}
		s := span{e.At, e.end()}
		if e.Kind == WorkerKilled || e.Kind == WorkerEnded {
			s.to = max(s.to, j.returned(e))
		}
		if e.trouble() {
			s.to = s.to.Add(j.TTL + lostAfter(job) + j.Rerun)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := all[:0]
	for _, s := range all {
		if n := len(joined); n > 0 && s.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// returned returns when a worker that was killed or ended was started again.
func (j *judge) returned(e *Event) Boot {
	for i := range j.Journal {
		if s := &j.Journal[i]; s.Kind == WorkerStarted && s.Worker == e.Worker && s.At >= e.At {
			return s.At
		}
	}
	return e.end()
}

// handovers checks that no run of a job was handed over while another replica of it had no successor yet, unless the
// worker that did it was in trouble.
func (j *judge) handovers(job *Job, of map[string][]*command) {
	type handover struct {
		span
		run string
	}
	var all []handover
	for _, commands := range of {
		for i, c := range commands {
			if r := j.runs[c.Run]; r != nil && i+1 < len(commands) && slices.Contains(handedOver, code(r.Reason)) {
				all = append(all, handover{span{c.last, commands[i+1].At}, c.Run})
			}
		}
	}
	slices.SortFunc(all, func(a, b handover) int { return cmp.Compare(a.from, b.from) })
	for i := range all[min(1, len(all)):] {
		before, h := &all[i], &all[i+1]
		if h.from.Add(j.Precision) >= before.to || slices.ContainsFunc(j.troubles, func(t trouble) bool {
			return t.from <= h.from && t.to.Add(j.TTL+lostAfter(job)+j.Rerun) >= before.from
		}) {
			continue
		}
		j.broken(Handover, job.Name, h.run, "was handed over %v before %s had a successor", before.to.Sub(h.from),
			before.run)
	}
}

// handedOver are the reasons of runs that were ended for a handover.
var handedOver = []string{"moved", "updated"}

// replicaEnded reports whether the reason for which a run of a daemon job was killed is one that the journal explains.
func (j *judge) replicaEnded(job *Job, r *Run, c *command) bool {
	if job.Daemon == nil {
		return false
	}
	changed := slices.ContainsFunc(j.Journal, func(e Event) bool {
		return e.Kind == DaemonChanged && e.Job == job.Name && e.At <= c.last
	})
	disturbed := slices.ContainsFunc(j.Journal, func(e Event) bool {
		return (e.Kind == WorkerDrained || e.trouble()) && e.At <= c.last
	})
	switch code(r.Reason) {
	case "updated", "paused":
		return changed
	case "scaled_down":
		return changed || job.Daemon.Workers != nil && disturbed
	case "moved":
		return changed || disturbed // more replicas on few workers, or workers that return
	}
	return slices.ContainsFunc(j.Journal, func(e Event) bool { // the end of the job
		return e.Kind == DaemonDeleted && e.Job == job.Name && e.At <= c.last
	})
}
