package check

import (
	"cmp"
	"slices"
	"time"
)

// trouble is a period in which a worker may have lost its runs.
type trouble struct {
	kind     Kind
	worker   string // empty: all of them
	from, to Boot
}

// end returns when the event was over, as far as is known.
func (e *Event) end() Boot { return max(e.At, e.Until) }

func (e *Event) trouble() bool {
	switch e.Kind {
	case WorkerKilled, WorkerEnded, WorkerStopped, WorkerCut, EtcdAway:
		return true
	}
	return false
}

// troublesOf collects the events that may cost runs. Cuts and stops in close succession are one: no
// keep-alive may have got through in between.
func troublesOf(journal []Event, ttl time.Duration) []trouble {
	var all []trouble
	for i := range journal {
		if e := &journal[i]; e.trouble() {
			all = append(all, trouble{e.Kind, e.Worker, e.At, e.end()})
		}
	}
	slices.SortStableFunc(all, func(a, b trouble) int { return cmp.Compare(a.from, b.from) })
	for i := range all {
		t := &all[i]
		if t.instant() {
			continue
		}
		for k := range i {
			before := &all[k]
			if !before.instant() && before.on(t.worker) && t.from.Sub(before.to) <= ttl/3+time.Second {
				t.from = min(t.from, before.from)
				before.to = max(before.to, t.to)
			}
		}
	}
	return all
}

// instant reports whether a worker is permanently gone from the beginning.
func (t *trouble) instant() bool { return t.kind == WorkerKilled || t.kind == WorkerEnded }

func (t *trouble) on(worker string) bool { return t.worker == "" || worker == "" || t.worker == worker }

// stands returns how long a worker that cannot reach etcd, or is stopped, keeps a run at least: by the
// protocol, with the longest time to the last answered keep-alive and a second for the machine.
func (j *judge) stands(job *Job) time.Duration {
	after := lostAfter(job)
	return after - time.Second - min(5*time.Second, (after-j.TTL)/2) - j.TTL/3 - time.Second
}

func lostAfter(job *Job) time.Duration { return cmp.Or(job.LostAfter, time.Minute) }

// settled returns when the outcome of a command was committed at the latest, if its worker was alive. While
// etcd cannot be reached nothing is committed.
func (j *judge) settled(c *command) Boot {
	to := c.last.Add(j.Finish)
	for i := range j.troubles {
		if t := &j.troubles[i]; !t.instant() && t.on(c.Worker) && t.from <= to && t.to >= c.last {
			to = max(to, t.to.Add(j.Finish))
		}
	}
	return to
}

// excuse returns the first trouble that may have cost a job the run of a command.
func (j *judge) excuse(job *Job, c *command) *trouble {
	from, to := c.At.Add(-j.Precision), j.settled(c)
	for i := range j.troubles {
		t := &j.troubles[i]
		if t.on(c.Worker) && t.from <= to && t.to >= from && (t.instant() || t.to.Sub(t.from) >= j.stands(job)) {
			return t
		}
	}
	return nil
}

// happened reports whether the journal has an event of a kind that overlaps a time and that the filter
// accepts.
func (j *judge) happened(kind Kind, from, to Boot, filter func(*Event) bool) bool {
	return slices.ContainsFunc(j.Journal, func(e Event) bool {
		return e.Kind == kind && e.At <= to && e.end() >= from && filter(&e)
	})
}
