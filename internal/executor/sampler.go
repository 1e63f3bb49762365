package executor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
	"carillon/internal/executor/usage"
)

const (
	// sampleEvery is how often runs are looked for whose sample is due.
	sampleEvery = time.Second
	// sampleShare bounds the cost of samples: after a pass none are taken for so many times its CPU time, so that they
	// take a hundredth of a core at most; but never for longer than sampleRest.
	sampleShare = 100
	sampleRest  = 30 * time.Second

	// How often the samples of a run are handed over: first, then always, and once it is old.
	handFirst = 5 * time.Second
	handEvery = 10 * time.Second
	handOld   = time.Minute
	oldAfter  = 10 * time.Minute
)

// sampler holds the runs to sample. One goroutine samples all of them.
type sampler struct {
	mu   sync.Mutex
	runs map[*measured]bool
}

// measured is what a run uses. A nil measured is valid: the run is not measured.
type measured struct {
	x       *Executor
	run     string
	out     Samples // nil: samples are not kept
	p       *process
	started time.Time // by the clock of this process, which does not jump
	began   time.Time // the same by the clock of the cluster
	due     time.Time // of the next sample; guarded by mu of the sampler, as the next one
	hand    time.Time // when samples are handed over next

	mu      sync.Mutex // held while the run is sampled
	over    bool
	tree    usage.Tree
	series  usage.Series
	adopted []int
	now     usage.Totals
	most    int64 // the highest sum of memory
	blind   bool  // the files of the group cannot be read
}

// measure begins to measure a run whose command was started.
func (x *Executor) measure(t *Task, p *process, out Output) *measured {
	now := time.Now()
	m := &measured{x: x, run: t.Record.Run, p: p, started: now, began: x.cfg.Now(), due: now.Add(usage.First),
		hand: now.Add(handFirst)}
	m.out, _ = out.(Samples)
	x.sampler.mu.Lock()
	defer x.sampler.mu.Unlock()
	if x.sampler.runs == nil {
		x.sampler.runs = map[*measured]bool{}
	}
	x.sampler.runs[m] = true
	return m
}

// sample samples runs until quit is closed.
func (x *Executor) sample(quit <-chan struct{}) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for rest := time.Now(); ; {
		select {
		case <-quit:
			return
		case now := <-tick.C:
			if now.Before(rest) {
				continue
			}
			rest = now.Add(min(sampleShare*cpuOf(func() { x.samplePass(now) }), sampleRest))
		}
	}
}

// cpuOf calls do, and returns the CPU time that this took; 0 if it is unknown.
func cpuOf(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before)
	do()
	if err != nil || unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after) != nil {
		return 0
	}
	return time.Duration(after.Nano() - before.Nano())
}

// samplePass samples the runs that are due.
func (x *Executor) samplePass(now time.Time) {
	type turn struct {
		*measured
		hands bool
	}
	var turns []turn
	soon := now.Add(sampleEvery / 4) // a tick is not exact: what is almost due is done now
	x.sampler.mu.Lock()
	for m := range x.sampler.runs {
		if m.due.After(soon) {
			continue
		}
		age := now.Sub(m.started)
		m.due = now.Add(usage.Every(age))
		hands := !m.hand.After(soon)
		if hands {
			m.hand = now.Add(handEvery)
			if age > oldAfter {
				m.hand = now.Add(handOld)
			}
		}
		turns = append(turns, turn{m, hands})
	}
	x.sampler.mu.Unlock()
	if len(turns) == 0 {
		return
	}
	adopted := x.tracker.adopted()
	for _, t := range turns {
		t.take(adopted[t.p], t.hands)
	}
}

// take takes a sample, and hands over all of them.
func (m *measured) take(adopted []int, hands bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.adopted = adopted
	m.read()
	m.add()
	if hands {
		m.handOver()
	}
}

// add adds a sample of the present figures.
func (m *measured) add() {
	m.most = max(m.most, m.now.Memory)
	m.series.Add(m.sample())
}

func (m *measured) sample() common.UsageSample {
	return common.UsageSample{
		At:           m.began.Add(time.Since(m.started)).UTC(), // it never steps back
		CPUSeconds:   m.now.CPU.Seconds(),
		MemoryBytes:  m.now.Memory,
		ReadBytes:    m.now.Read,
		WrittenBytes: m.now.Written,
		Processes:    m.now.Processes,
	}
}

func (m *measured) handOver() {
	if m.out == nil || m.series.Empty() {
		return
	}
	u := common.Usage{Run: m.run, Source: common.UsageOfProc}
	if m.p.leaf != nil && !m.blind {
		u.Source = common.UsageOfCgroup
	}
	u.Samples, u.Interval = m.series.Samples()
	m.out.Usage(u)
}

// read reads the processes of the run. Its command was not reaped yet, so its id was not reused.
func (m *measured) read() {
	cpu := m.now.CPU
	m.now = m.tree.Add(m.readings())
	if used, known := m.p.leaf.cpu(); known {
		m.now.CPU = used
	} else {
		m.blind = true
	}
	m.now.CPU = max(m.now.CPU, cpu)
	// The resident memory of a group counts shared pages once; its page cache is left out.
	if used, known := m.p.leaf.sum("memory.stat", "anon", "file_mapped"); known {
		m.now.Memory = used
	}
}

// readings reads the processes of the run: those in its group, if it has one; otherwise the command, its descendants,
// and those that outlived their parents, with theirs.
func (m *measured) readings() []usage.Reading {
	var found []proctree.Process
	look := func(pids ...int) {
		for _, pid := range pids {
			if p, alive := proctree.Look(pid); alive {
				found = append(found, p)
			}
		}
	}
	look(m.p.pid)
	if members, known := m.p.leaf.members(); known {
		look(slices.DeleteFunc(members, func(pid int) bool { return pid == m.p.pid })...)
	} else {
		found = append(found, proctree.Below(m.p.pid)...)
		for _, pid := range m.adopted {
			look(pid)
			found = append(found, proctree.Below(pid)...)
		}
	}
	readings := make([]usage.Reading, len(found))
	for i, p := range found {
		readings[i] = usage.Reading{Process: p}
		readings[i].Read, readings[i].Written, readings[i].Known = proctree.IO(p.PID)
	}
	return readings
}

// last ends the samples of a run whose command has ended, and was not reaped. Of a run without a sample only the
// command is read.
func (m *measured) last() {
	if m == nil {
		return
	}
	m.x.sampler.mu.Lock()
	delete(m.x.sampler.runs, m)
	m.x.sampler.mu.Unlock()
	adopted := m.x.tracker.adopted()[m.p]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if !m.series.Empty() {
		m.adopted = adopted
		m.read()
		m.most = max(m.most, m.now.Memory)
		return
	}
	m.now.Read, m.now.Written, _ = proctree.IO(m.p.pid)
}

// readGroup reads the CPU time of the run's group, in which no process is left.
func (m *measured) readGroup() {
	if m == nil {
		return
	}
	if used, known := m.p.leaf.cpu(); known {
		m.now.CPU = max(m.now.CPU, used)
	}
}

// account adds what was measured to a run that has ended, and hands over its samples, of which the last one shows the
// figures of the run.
func (m *measured) account(run *common.Run) {
	if m == nil {
		return
	}
	run.CPUSeconds = max(run.CPUSeconds, m.now.CPU.Seconds())
	run.ReadBytes, run.WrittenBytes = m.now.Read, m.now.Written
	run.MaxRSSBytes = max(run.MaxRSSBytes, m.most)
	if m.series.Empty() {
		return
	}
	m.now.CPU = max(m.now.CPU, time.Duration(run.CPUSeconds*float64(time.Second)))
	m.now.Memory, m.now.Processes = 0, 0
	m.series.End(m.sample())
	m.handOver()
}

// cpu returns the CPU time of all processes that were ever in the group.
func (l *leaf) cpu() (used time.Duration, known bool) {
	us, known := l.sum("cpu.stat", "usage_usec")
	return time.Duration(us) * time.Microsecond, known
}

// members returns the processes in the group, without those that have ended.
func (l *leaf) members() (pids []int, known bool) {
	if l == nil {
		return nil, false
	}
	list, err := os.ReadFile(filepath.Join(l.path, "cgroup.procs"))
	return proctree.Parse(list), err == nil
}
