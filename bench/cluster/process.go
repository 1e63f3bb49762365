package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/internal/executor/proctree"
)

// process is a started program.
type process struct {
	*exec.Cmd
	name  string
	log   string // path
	began time.Time
	done  chan struct{} // closed when it has ended
}

// start runs a program of the bench's directory. Its own directory is created below dir.
func (b *bench) start(dir, name, program string, env []string, args ...string) (*process, error) {
	p := &process{
		Cmd:  exec.Command(filepath.Join(b.bin, program), args...),
		name: name,
		log:  filepath.Join(dir, name+".log"),
		done: make(chan struct{}),
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.Stdout, p.Stderr = log, log
	p.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	// A terminal's ^C is for the bench, which then ends its processes.
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.began = time.Now()
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	b.started = append(b.started, p)
	go func() { defer close(p.done); _ = p.Wait() }() // the log shows how it ended
	return p, nil
}

// killAll kills the remaining processes of a row.
func (b *bench) killAll() {
	for _, p := range b.started {
		p.kill()
	}
}

// kill kills the process at once: its data is not kept. If it is a guardian, its worker is killed at the same
// time, as when a machine fails.
func (p *process) kill() {
	if p.alive() {
		below := proctree.Below(p.Process.Pid)
		_ = p.Process.Kill() // it may have ended meanwhile
		for _, w := range below {
			if w.Parent == p.Process.Pid {
				_ = w.Kill()
			}
		}
		<-p.done
	}
}

// stop waits some seconds for a graceful stop of the process.
func (p *process) stop() {
	if p.alive() {
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(20 * time.Second):
			p.kill()
		}
	}
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// said reports whether the process has printed a text.
func (p *process) said(text string) bool {
	data, err := os.ReadFile(p.log)
	return err == nil && strings.Contains(string(data), text)
}

// tail returns the end of the output of the process.
func (p *process) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-2000):])
}

// usage is the resource usage of a process.
type usage struct {
	cpu       time.Duration
	rss, peak int64 // bytes
}

// usage returns the usage of a process and, if it is a guardian, of its worker.
func (p *process) usage() usage {
	u := usageOf(p.Process.Pid)
	for _, below := range proctree.Below(p.Process.Pid) {
		if below.Parent == p.Process.Pid {
			worker := usageOf(below.PID)
			u.cpu, u.rss, u.peak = u.cpu+worker.cpu, u.rss+worker.rss, u.peak+worker.peak
		}
	}
	return u
}

// usageOf reads /proc; for an ended process it is empty.
func usageOf(pid int) usage {
	var u usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		for _, f := range fields[11:13] { // utime, stime; USER_HZ is 100 on Linux
			ticks, _ := strconv.Atoi(f)
			u.cpu += time.Duration(ticks) * 10 * time.Millisecond
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
			u.rss = kb << 10
		case "VmHWM":
			u.peak = kb << 10
		}
	}
	return u
}

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
