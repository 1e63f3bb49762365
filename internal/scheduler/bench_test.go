package scheduler

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// crowd returns jobs that share 500 expressions, as jobs of one crontab often do.
type crowd struct {
	timetables []schedule.Schedule
	terms      common.Terms
	cursor     time.Time
}

func newCrowd(b *testing.B) *crowd {
	b.Helper()
	c := &crowd{cursor: time.Date(2026, 5, 7, 12, 0, 0, 0, time.UTC)}
	in := schedule.NewInterner()
	for i := range 500 {
		// Some every few minutes, most once a day, some once a month.
		expr := fmt.Sprintf("%d %d * * *", i%60, i/60)
		switch i % 10 {
		case 0:
			expr = fmt.Sprintf("%d-59/%d * * * *", i%7, 5+i/60)
		case 1:
			expr = fmt.Sprintf("%d %d %d * *", i%60, i/60, 1+i%28)
		}
		timetable, err := in.Parse(schedule.Spec{Expr: expr, Zone: "Europe/Berlin"})
		if err != nil {
			b.Fatal(err)
		}
		c.timetables = append(c.timetables, timetable)
	}
	return c
}

// job returns job i, with its own name and uid.
func (c *crowd) job(i int) Job {
	return Job{
		Name:     fmt.Sprintf("job-%07d", i),
		UID:      fmt.Sprintf("uid%013d", i),
		Version:  int64(i + 1),
		Cursor:   c.cursor,
		Schedule: c.timetables[i%len(c.timetables)],
		Terms:    &c.terms,
	}
}

func (c *crowd) jobs(n int) []Job {
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = c.job(i)
	}
	return jobs
}

func unplannable(b *testing.B) func(string, error) {
	return func(job string, err error) { b.Fatalf("%s: %v", job, err) }
}

func (c *crowd) load(b *testing.B, jobs []Job) *plan {
	p := newPlan(unplannable(b))
	p.beginWhole(time.Now())
	for i := range jobs {
		p.putJob(jobs[i])
	}
	p.endWhole()
	for p.step(1 << 20) {
	}
	return p
}

// BenchmarkPlanLoad100k loads a complete list into an empty plan. Goal: below a second.
func BenchmarkPlanLoad100k(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if p := c.load(b, jobs); len(p.jobs) != len(jobs) {
			b.Fatal("not all are planned")
		}
	}
}

// BenchmarkPlanReload100k applies the same list again, as after a watch resync.
func BenchmarkPlanReload100k(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	p := c.load(b, jobs)
	b.ReportAllocs()
	for b.Loop() {
		p.beginWhole(time.Now())
		for i := range jobs {
			p.putJob(jobs[i])
		}
		p.endWhole()
		for p.step(1 << 20) {
		}
	}
}

// BenchmarkHeapFix100k moves one of 100,000 entries. Goal: below a microsecond.
func BenchmarkHeapFix100k(b *testing.B) {
	const n = 100_000
	var a agenda
	items := make([]item, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range items {
		a.set(&items[i], random.Int64N(n))
	}
	due := int64(n)
	b.Run("anywhere", func(b *testing.B) {
		for b.Loop() {
			a.set(&items[random.IntN(n)], random.Int64N(n))
		}
	})
	b.Run("first", func(b *testing.B) { // as after a fire: to the next planned time
		for b.Loop() {
			a.set(a.first(), due+random.Int64N(n))
			due++
		}
	})
}

// BenchmarkFire100k measures the loop's part of one fire among 100,000 jobs: due, sent,
// settled, planned anew.
func BenchmarkFire100k(b *testing.B) {
	c := newCrowd(b)
	p := c.load(b, c.jobs(100_000))
	b.ReportAllocs()
	for b.Loop() {
		now := p.agenda.first().due
		it := p.due(now)
		f, ok := it.what.offer(p)
		if !ok {
			b.Fatal("not sent")
		}
		it.state = sent
		p.settleJob(Settled{Fire: f, Cursor: f.At})
	}
}

// BenchmarkEdit100k applies a change of one job among 100,000.
func BenchmarkEdit100k(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	p := c.load(b, jobs)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		j := &jobs[i%len(jobs)]
		j.Version++
		j.Schedule = c.timetables[(i+7)%len(c.timetables)]
		p.putJob(*j)
		i++
	}
}

// BenchmarkMemoryPerJob1M loads a million jobs. Goal: at most 400 bytes per job,
// including its name and uid.
func BenchmarkMemoryPerJob1M(b *testing.B) {
	const n = 1_000_000
	c := newCrowd(b)
	for b.Loop() {
		before := heap()
		p := newPlan(unplannable(b))
		for i := range n {
			p.putJob(c.job(i))
		}
		b.ReportMetric(float64(heap()-before)/n, "bytes/job")
		runtime.KeepAlive(p)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // a second pass for memory that the first one only marked
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkIdle100k measures one iteration of an idle loop, which runs once per
// second. Goal for the worker: below 1 % of a core.
func BenchmarkIdle100k(b *testing.B) {
	c := newCrowd(b)
	now := c.cursor.Add(-time.Hour)
	l := New(slog.New(slog.DiscardHandler), &meter{}, func() time.Time { return now }, NewTimer(), nil)
	l.plan = c.load(b, c.jobs(100_000))
	l.lastWall, l.lastMono = now, time.Now()
	for b.Loop() {
		at := l.wall()
		l.noticeJump(at)
		if more := l.work(at.UnixNano()); l.nap(at, more) != maxSleep {
			b.Fatal("not idle")
		}
		if _, have := l.head(at); have {
			b.Fatal("not idle")
		}
		l.lastMono = time.Now() // the wall clock of this loop does not advance
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(maxSleep)*100, "%core")
}

// BenchmarkStride measures the longest work between two readings of the
// clock: a stride of a complete list. Goal: below a millisecond.
func BenchmarkStride(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	l := New(slog.New(slog.DiscardHandler), &meter{}, time.Now, NewTimer(), nil)
	l.plan = c.load(b, jobs)
	at := 0
	for b.Loop() {
		if !l.taking {
			at = 0
			l.begin(Jobs{Whole: true, Put: jobs})
		}
		l.take(stride)
		at += stride
	}
}
