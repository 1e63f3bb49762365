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

// crowd makes jobs that share 500 expressions, as many jobs of one crontab do.
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

// job makes job i, with a name and a uid of its own.
func (c *crowd) job(i int) Job {
	return Job{Name: fmt.Sprintf("job-%07d", i), UID: fmt.Sprintf("uid%013d", i), Version: int64(i + 1), Cursor: c.cursor,
		Schedule: c.timetables[i%len(c.timetables)], Terms: &c.terms}
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
	p.beginWhole()
	for i := range jobs {
		p.putJob(jobs[i])
	}
	p.endWhole()
	for p.step(1 << 20) {
	}
	return p
}

// BenchmarkPlanLoad100k takes a whole table into an empty plan. Goal: below a second.
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

// BenchmarkPlanReload100k takes in the same table again, as after a gap of the watch.
func BenchmarkPlanReload100k(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	p := c.load(b, jobs)
	b.ReportAllocs()
	for b.Loop() {
		p.beginWhole()
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
	b.Run("first", func(b *testing.B) { // as when a fire was handed out: to its next time
		for b.Loop() {
			a.set(a.first(), due+random.Int64N(n))
			due++
		}
	})
}

// BenchmarkFire100k is the loop's part of one fire among 100,000 jobs: due, handed
// out, settled, planned anew.
func BenchmarkFire100k(b *testing.B) {
	c := newCrowd(b)
	p := c.load(b, c.jobs(100_000))
	b.ReportAllocs()
	for b.Loop() {
		now := p.agenda.first().due
		it := p.due(now)
		f, ok := it.what.offer(p)
		if !ok {
			b.Fatal("not handed out")
		}
		it.what.handOut()
		p.settleJob(Settled{Fire: f, Cursor: f.At})
	}
}

// BenchmarkEdit100k is the news of one job among 100,000.
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

// BenchmarkMemoryPerJob1M loads a million jobs. Goal: at most 400 bytes for each,
// its name and uid included.
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
	runtime.GC() // what the first one freed in part
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkIdle100k is one look of a loop that has nothing to do, of which there is
// one per second. Goal for the worker: below 1 % of a core.
func BenchmarkIdle100k(b *testing.B) {
	c := newCrowd(b)
	now := c.cursor.Add(-time.Hour)
	l := New(slog.New(slog.DiscardHandler), &meter{}, func() time.Time { return now })
	l.plan = c.load(b, c.jobs(100_000))
	l.lastWall, l.lastMono = now, time.Now()
	for b.Loop() {
		at := l.wall()
		l.noticeJump(at)
		if more := l.work(at.UnixNano()); l.nap(at, more) != look {
			b.Fatal("not idle")
		}
		if _, have := l.head(); have {
			b.Fatal("not idle")
		}
		l.lastMono = time.Now() // the wall clock of this loop stands still
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(look)*100, "%core")
}

// BenchmarkStride is the longest that the loop works between two looks at the
// clock: a stride of a whole table. Goal: below a millisecond.
func BenchmarkStride(b *testing.B) {
	c := newCrowd(b)
	jobs := c.jobs(100_000)
	l := New(slog.New(slog.DiscardHandler), &meter{}, time.Now)
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
