package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// The heap returns items in the order of a sorted list after any insertions, moves and removals.
func TestAgenda_EqualsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		items := make([]item, rapid.IntRange(1, 60).Draw(t, "items"))
		in := map[*item]bool{}
		pick := rapid.Map(rapid.IntRange(0, len(items)-1), func(i int) *item { return &items[i] })
		earliest := func() (due int64) {
			var dues []int64
			for it := range in {
				dues = append(dues, it.due)
			}
			return slices.Min(dues)
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				it := pick.Draw(t, "item")
				a.set(it, rapid.Int64Range(-5, 20).Draw(t, "due"))
				in[it] = true
			},
			"remove": func(t *rapid.T) {
				it := pick.Draw(t, "item")
				a.remove(it)
				delete(in, it)
			},
			"take first": func(t *rapid.T) {
				first := a.first()
				if first == nil {
					t.Skip("empty")
				}
				if first.due != earliest() {
					t.Fatalf("first is due %d, want %d", first.due, earliest())
				}
				a.remove(first)
				delete(in, first)
			},
			"": func(t *rapid.T) {
				if a.len() != len(in) {
					t.Fatalf("%d items, want %d", a.len(), len(in))
				}
				for i := range items {
					if (items[i].index != 0) != in[&items[i]] {
						t.Fatalf("item %d has index %d", i, items[i].index)
					}
				}
				for i, s := range a.nodes {
					if int(s.item.index) != i+1 || s.item.due != s.due {
						t.Fatalf("node %d with due time %d: its item has index %d and due time %d", i, s.due,
							s.item.index-1, s.item.due)
					}
				}
				if first := a.first(); first != nil && first.due != earliest() {
					t.Fatalf("first is due %d, want %d", first.due, earliest())
				}
			},
		})
	})
}

// naive is a reference implementation of the plan without a heap, states or steps.
type naive struct {
	jobs     map[string]*naiveJob
	triggers map[TriggerKey]*naiveTrigger
}

type naiveJob struct {
	Job
	awaited int64
	retry   time.Time
	out     bool
	next    time.Time // as last planned
	since   time.Time
}

type naiveTrigger struct {
	Trigger
	retry time.Time
	out   bool
	since time.Time
}

// plan returns when the next fire is due; false if it never is or a newer version is awaited.
func (j *naiveJob) plan() (due time.Time, ok bool) {
	if j.awaited != 0 || j.Terms.Paused && j.Terms.PausedUntil == 0 {
		return time.Time{}, false
	}
	next, ok, err := j.Schedule.Next(j.Cursor)
	if !ok || err != nil {
		return time.Time{}, false
	}
	if !next.Equal(j.next) {
		j.next, j.since = next, time.Time{}
	}
	due = next.Add(common.Delay(j.Terms.Jitter, j.UID, next))
	if until := time.Unix(0, j.Terms.PausedUntil); j.Terms.Paused && until.After(due) {
		due = until
	}
	return due, true
}

func (n *naive) put(j Job) {
	defer n.release(j.Name)
	old, known := n.jobs[j.Name]
	if known && j.Version < old.Version {
		return
	}
	e := &naiveJob{Job: j}
	if known {
		if old.awaited > j.Version {
			e.awaited = old.awaited
		}
		if e.next = old.next; e.UID == old.UID {
			e.out, e.since = old.out, old.since
		}
		if e.UID == old.UID && e.Version == old.Version && old.Cursor.After(e.Cursor) {
			e.Cursor = old.Cursor
		}
	}
	if n.jobs[j.Name] = e; !e.out {
		e.plan()
	}
}

func (n *naive) release(job string) {
	if j, known := n.jobs[job]; known && !j.out {
		j.retry = time.Time{}
	}
	for _, tr := range n.triggers {
		if tr.Job == job && !tr.out {
			tr.retry = time.Time{}
		}
	}
}

// jump discards times of the old clock.
func (n *naive) jump() {
	n.retry()
	for _, j := range n.jobs {
		j.since = time.Time{}
	}
	for _, tr := range n.triggers {
		tr.since = time.Time{}
	}
}

func (n *naive) retry() {
	for _, j := range n.jobs {
		if !j.out {
			j.retry = time.Time{}
		}
	}
	for _, tr := range n.triggers {
		if !tr.out {
			tr.retry = time.Time{}
		}
	}
}

// due returns descriptions of all due fires.
func (n *naive) due(now time.Time) (due []string) {
	for _, j := range n.jobs {
		if j.out || j.retry.After(now) {
			continue
		}
		at, ok := j.plan()
		if !ok || at.After(now) {
			continue
		}
		if j.since.IsZero() {
			j.since = now
		}
		j.out = true
		due = append(due, text(Fire{
			Job:     j.Name,
			UID:     j.UID,
			Version: j.Version,
			Cursor:  j.Cursor,
			At:      j.next,
			Due:     at,
			Since:   j.since,
		}))
	}
	for _, tr := range n.triggers {
		if tr.out || tr.retry.After(now) || tr.NotBefore.After(now) {
			continue
		}
		if tr.since.IsZero() {
			tr.since = now
		}
		j, known := n.jobs[tr.Job]
		if !known || j.UID != tr.JobUID {
			continue
		}
		tr.out = true
		due = append(due, text(Fire{
			Job:     tr.Job,
			UID:     tr.JobUID,
			Version: j.Version,
			At:      tr.PlannedAt,
			Due:     tr.NotBefore,
			Since:   tr.since,
			Trigger: &tr.Trigger,
		}))
	}
	slices.Sort(due)
	return due
}

func (n *naive) settle(s Settled) {
	if s.Fire.Trigger != nil {
		key := TriggerKey{s.Fire.Trigger.Job, s.Fire.Trigger.ID}
		switch tr, known := n.triggers[key]; {
		case !known || !tr.out:
		case s.Gone && tr.Revision == s.Fire.Trigger.Revision:
			delete(n.triggers, key)
		default:
			tr.out, tr.retry = false, s.RetryAt
		}
		return
	}
	j, known := n.jobs[s.Fire.Job]
	if !known || !j.out || j.UID != s.Fire.UID {
		return
	}
	if s.Gone {
		delete(n.jobs, j.Name)
		return
	}
	j.out, j.retry = false, s.RetryAt
	if s.Version > j.Version {
		j.awaited = s.Version
	}
	if s.Cursor.After(j.Cursor) {
		j.Cursor = s.Cursor
	}
	j.plan()
}

func text(f Fire) string {
	id := ""
	if f.Trigger != nil {
		id = fmt.Sprint(" trigger ", f.Trigger.ID, " of ", f.Trigger.Revision)
		f.Cursor = time.Time{}
	}
	return fmt.Sprintf("%s/%s v%d from %d at %d due %d since %d%s", f.Job, f.UID, f.Version, f.Cursor.Unix(),
		f.At.Unix(),
		f.Due.UnixMilli(), f.Since.Unix(), id)
}

// markSent removes all due fires from the plan.
func markSent(p *plan, now time.Time) (fires []Fire) {
	for it := p.due(now.UnixNano()); it != nil; it = p.due(now.UnixNano()) {
		if f, ok := it.what.offer(p); ok {
			it.state = sent
			fires = append(fires, f)
		}
	}
	return fires
}

// The plan sends the same fires as the reference implementation, for any changes in any order.
func TestPlan_EqualsTheReferenceImplementation(t *testing.T) {
	in := schedule.NewInterner()
	var timetables []schedule.Schedule
	for _, expr := range []string{"* * * * * * *", "*/3 * * * * * *", "0 * * * * * *", "@every 7s",
		"@at 2026-01-01T00:01:00Z"} {
		s, err := in.Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		timetables = append(timetables, s)
	}
	timetables = append(timetables, schedule.Schedule{})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	names := []string{"a", "b", "c", "d", "e", "f"}
	kinds := []*common.Terms{terms(), terms(), terms(jitter(10 * time.Second)), terms(paused(time.Time{})),
		terms(paused(start.Add(40 * time.Second))),
		terms(jitter(10*time.Second), paused(start.Add(2*time.Minute)))}

	rapid.Check(t, func(t *rapid.T) {
		now := start
		p := newPlan(func(job string, err error) { t.Fatalf("%s: %v", job, err) })
		model := &naive{jobs: map[string]*naiveJob{}, triggers: map[TriggerKey]*naiveTrigger{}}
		var out []Fire // sent and not settled
		name := rapid.SampledFrom(names)
		uid := rapid.SampledFrom([]string{"1", "1", "1", "2"})
		seconds := rapid.IntRange(-30, 30)
		when := func(t *rapid.T, label string) time.Time {
			return now.Add(time.Duration(seconds.Draw(t, label)) * time.Second)
		}

		job := func(t *rapid.T, name string) Job {
			return Job{Name: name, UID: uid.Draw(t, "uid"), Version: rapid.Int64Range(1, 4).Draw(t, "version"),
				Cursor: when(t, "cursor"), Schedule: rapid.SampledFrom(timetables).Draw(t, "schedule"),
				Terms: rapid.SampledFrom(kinds).Draw(t, "terms")}
		}
		put := func(j Job) {
			p.putJob(j)
			p.release(j.Name)
			model.put(j)
		}
		gone := func(name string) {
			p.dropJob(name)
			delete(model.jobs, name)
		}
		// finish completes the passes over all jobs, with changes of some jobs in between.
		finish := func(t *rapid.T, listed []string) {
			for p.step(rapid.IntRange(1, 3).Draw(t, "stride")) {
				switch rapid.IntRange(0, 5).Draw(t, "between") {
				case 0:
					gone(name.Draw(t, "gone"))
				case 1:
					if n := name.Draw(t, "put"); slices.Contains(listed, n) {
						put(job(t, n))
					}
				}
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"put":  func(t *rapid.T) { put(job(t, name.Draw(t, "name"))) },
			"gone": func(t *rapid.T) { gone(name.Draw(t, "name")) },
			"whole": func(t *rapid.T) {
				listed := rapid.SliceOfDistinct(name, rapid.ID).Draw(t, "listed")
				for n := range model.jobs {
					if !slices.Contains(listed, n) {
						delete(model.jobs, n)
					}
				}
				p.beginWhole(time.Now())
				for _, n := range listed {
					put(job(t, n))
				}
				p.endWhole()
				finish(t, listed)
			},
			"jump": func(t *rapid.T) {
				now = when(t, "now")
				p.planAgain(time.Now(), 0)
				model.jump()
				finish(t, nil)
			},
			"retry": func(t *rapid.T) {
				p.retryAll()
				model.retry()
				finish(t, nil)
			},
			"trigger": func(t *rapid.T) {
				tr := Trigger{
					Trigger: trigger(name.Draw(t, "name"), rapid.StringMatching("[xyz]").Draw(t, "id"),
						when(t, "not before")),
					Revision: rapid.Int64Range(1, 2).Draw(t, "revision"),
				}
				tr.JobUID = uid.Draw(t, "uid")
				p.applyTriggers(Triggers{Put: []Trigger{tr}})
				key := TriggerKey{tr.Job, tr.ID}
				entry := &naiveTrigger{Trigger: tr}
				if old, known := model.triggers[key]; known {
					entry.out = old.out
					if old.Revision == tr.Revision {
						entry.since = old.since
					}
				}
				model.triggers[key] = entry
			},
			"trigger gone": func(t *rapid.T) {
				key := TriggerKey{name.Draw(t, "name"), rapid.StringMatching("[xyz]").Draw(t, "id")}
				p.applyTriggers(Triggers{Gone: []TriggerKey{key}})
				delete(model.triggers, key)
			},
			"ended": func(t *rapid.T) {
				job := name.Draw(t, "name")
				p.release(job)
				model.release(job)
			},
			"settle": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("no fire is unsettled")
				}
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				s := Settled{Fire: out[i]}
				out = slices.Delete(out, i, i+1)
				switch rapid.IntRange(0, 4).Draw(t, "verdict") {
				case 0:
					s.Gone = true
				case 1:
					s.RetryAt = when(t, "retry at")
				case 2:
					s.Version, s.Cursor = rapid.Int64Range(1, 4).Draw(t, "version"), when(t, "cursor")
				default:
					s.Cursor = s.Fire.At
				}
				if s.Fire.Trigger != nil {
					p.settleTrigger(s)
				} else {
					p.settleJob(s)
				}
				model.settle(s)
			},
			"time goes by": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
				fires := markSent(p, now)
				out = append(out, fires...)
				got := make([]string, len(fires))
				for i := range fires {
					got[i] = text(fires[i])
				}
				slices.Sort(got)
				if want := model.due(now); !slices.Equal(got, want) {
					t.Fatalf("at %d sent\n%s\nwant\n%s", now.Unix(), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			},
			"": func(t *rapid.T) {
				if len(p.jobs) != len(p.dense) || len(p.jobs) != len(model.jobs) ||
					len(p.triggers) != len(model.triggers) {
					t.Fatalf("%d jobs in %d slots and %d triggers, want %d and %d", len(p.jobs), len(p.dense),
						len(p.triggers),
						len(model.jobs), len(model.triggers))
				}
				for i, e := range p.dense {
					if int(e.denseIndex) != i || p.jobs[e.name] != e {
						t.Fatalf("%s at index %d has denseIndex %d", e.name, i, e.denseIndex)
					}
				}
				for job, list := range p.ofJob {
					for _, e := range list {
						if e.trigger.Job != job || p.triggers[TriggerKey{job, e.trigger.ID}] != e {
							t.Fatalf("%s of %s is listed, but does not exist", e.trigger.ID, job)
						}
					}
				}
			},
		})
	})
}
