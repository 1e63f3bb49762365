// Package harness starts Carillon's programs, and what they need, as real processes, and calls their API: for the
// tests of the system, the fault injection and the benchmarks.
package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/internal/executor/proctree"
)

// Command describes a program to start. Its environment is nearly empty.
type Command struct {
	Name string // for messages
	Path string
	Log  string // file that its output is appended to; HOME is the folder of it
	Args []string
	Env  []string
	// Within calls its argument where the process is to start, such as in another network; may be nil.
	Within func(start func() error) error
}

// Process is a started program. A ^C in a terminal does not reach it.
type Process struct {
	*exec.Cmd
	Name  string
	Log   string
	Began time.Time
	Done  chan struct{} // closed when it has ended
}

// Start starts a program, and creates the folder of its log.
func Start(c Command) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{Cmd: exec.Command(c.Path, c.Args...), Name: c.Name, Log: c.Log, Done: make(chan struct{})}
	p.Stdout, p.Stderr = log, log
	p.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(c.Log)}, c.Env...)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Within == nil {
		c.Within = func(start func() error) error { return start() }
	}
	p.Began = time.Now()
	if err := c.Within(p.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	go func() { defer close(p.Done); _ = p.Wait() }() // its state and its log show how it ended
	return p, nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.Process.Pid }

// Alive reports whether the process has not ended.
func (p *Process) Alive() bool {
	select {
	case <-p.Done:
		return false
	default:
		return true
	}
}

// Signal sends a signal unless the process has been reaped.
func (p *Process) Signal(s syscall.Signal) { _ = p.Process.Signal(s) }

// Kill kills the process at once and waits for its end. The worker of a guardian is killed at the same time, as when a
// machine fails.
func (p *Process) Kill() {
	below := p.workers()
	p.Signal(syscall.SIGKILL)
	for _, w := range below {
		_ = w.Kill() // it may have ended
	}
	<-p.Done
}

// KillWorker kills the worker of a guardian, which then ends what the worker ran, and waits for the guardian's end.
func (p *Process) KillWorker() {
	for _, w := range p.workers() {
		_ = w.Kill() // it may have ended
	}
	<-p.Done
}

// Stop waits some seconds for a graceful stop of the process, before it kills it.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Done:
	case <-time.After(20 * time.Second):
		p.Kill()
	}
}

// workers returns the children of a live process: the worker, if it is a guardian.
func (p *Process) workers() (found []proctree.Process) {
	if !p.Alive() {
		return nil
	}
	for _, below := range proctree.Below(p.PID()) {
		if below.Parent == p.PID() {
			found = append(found, below)
		}
	}
	return found
}

// Text returns the output of the process.
func (p *Process) Text() string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Said reports whether the process has printed a text.
func (p *Process) Said(text string) bool { return strings.Contains(p.Text(), text) }

// Tail returns the end of the output of the process.
func (p *Process) Tail() string {
	text := p.Text()
	return text[max(0, len(text)-2000):]
}

// Usage is the resource usage of a process.
type Usage struct {
	CPU       time.Duration
	Reaped    time.Duration // processor time of its children that have ended
	RSS, Peak int64         // bytes
	File      int64         // bytes of RSS that are pages of files, which the kernel can drop
}

// Usage returns the usage of a process and, if it is a guardian, of its worker. For an ended process it is empty.
func (p *Process) Usage() Usage {
	u := usageOf(p.PID())
	for _, w := range p.workers() {
		worker := usageOf(w.PID)
		u.CPU, u.RSS, u.Peak = u.CPU+worker.CPU, u.RSS+worker.RSS, u.Peak+worker.Peak
		u.Reaped, u.File = u.Reaped+worker.Reaped, u.File+worker.File
	}
	return u
}

// TreeUsage returns the usage of a process and all its descendants.
func (p *Process) TreeUsage() Usage {
	u := usageOf(p.PID())
	for _, q := range proctree.Below(p.PID()) {
		more := usageOf(q.PID)
		u.CPU, u.Reaped, u.RSS, u.Peak = u.CPU+more.CPU, u.Reaped+more.Reaped, u.RSS+more.RSS, u.Peak+more.Peak
		u.File += more.File
	}
	return u
}

// usageOf reads /proc.
func usageOf(pid int) (u Usage) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 14 {
		for i, f := range fields[11:15] { // utime, stime, cutime, cstime; USER_HZ is 100 on Linux
			ticks, _ := strconv.Atoi(f)
			if took := time.Duration(ticks) * 10 * time.Millisecond; i < 2 {
				u.CPU += took
			} else {
				u.Reaped += took
			}
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			u.RSS = kb << 10
		case "RssFile":
			u.File = kb << 10
		case "VmHWM":
			u.Peak = kb << 10
		}
	}
	return u
}
