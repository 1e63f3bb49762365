package proctree

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Mark identifies one incarnation of a worker. It is the value of the hard limit RLIMIT_RTTIME, which every process
// inherits from its parent through fork, clone, setsid and execve, and which no process can raise without
// CAP_SYS_RESOURCE. The values are about 2^61 microseconds: as a limit they have no effect.
//
// The upper bits count down with the boot clock, so that a worker that is started by a marked process can replace the
// mark; the lower bits are a hash of the worker's id.
type Mark uint64

const (
	workerBits = 27
	timeBits   = 34
	timeUnit   = 10 * time.Millisecond // 2^34 units are five years
	leastMark  = 1 << (timeBits + workerBits)
	// leastRun is the smallest soft limit that identifies a run.
	leastRun = leastMark >> 1
	// RunNumbers is the number of distinct values of [Limits.Run].
	RunNumbers = leastRun
)

// NewMark returns the mark of a worker's incarnation that started at a time of the boot clock.
func NewMark(worker string, began time.Duration) Mark {
	h := fnv.New32a()
	_, _ = h.Write([]byte(worker)) // never fails
	left := (1<<timeBits - 1) - uint64(began/timeUnit)%(1<<timeBits)
	return Mark(leastMark | left<<workerBits | uint64(h.Sum32()>>(32-workerBits)))
}

// SameWorker reports whether two marks belong to incarnations of the same worker.
func (m Mark) SameWorker(other Mark) bool {
	return m != 0 && other != 0 && (m^other)&(1<<workerBits-1) == 0
}

// Set marks this process and all its future descendants.
func (m Mark) Set() error {
	now, err := LimitsOf(os.Getpid())
	if err != nil {
		return err
	}
	if now.Hard < uint64(m) {
		return fmt.Errorf("the hard limit of RLIMIT_RTTIME is already %d", now.Hard)
	}
	return setLimits(os.Getpid(), uint64(m), uint64(m))
}

// Limits returns the limits of a process with this mark and the number of its run; 0 is no run.
func (m Mark) Limits(number uint64) Limits {
	l := Limits{Soft: uint64(m), Hard: uint64(m)}
	if number != 0 {
		l.Soft = leastRun + number%RunNumbers
	}
	return l
}

func setLimits(pid int, soft, hard uint64) error {
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: soft, Max: hard}, nil)
	if err != nil {
		return fmt.Errorf("set RLIMIT_RTTIME of process %d: %w", pid, err)
	}
	return nil
}

// Limits are the values of RLIMIT_RTTIME of a process, which hold its mark.
type Limits struct{ Soft, Hard uint64 }

// LimitsOf returns the limits of a process. For a process of another user it reads /proc, since prlimit(2) is not
// permitted.
func LimitsOf(pid int) (Limits, error) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l)
	if errors.Is(err, unix.EPERM) {
		return listedLimits(pid)
	}
	return Limits{l.Cur, l.Max}, err
}

// listedLimits reads /proc/<pid>/limits, proc(5), which is readable wherever the process is visible.
func listedLimits(pid int) (Limits, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return Limits{}, err
	}
	_, line, _ := bytes.Cut(data, []byte("\nMax realtime timeout"))
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return Limits{}, unix.ESRCH // it has ended
	}
	return Limits{limit(fields[0]), limit(fields[1])}, nil
}

func limit(text []byte) uint64 {
	value, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return unix.RLIM_INFINITY // "unlimited"
	}
	return value
}

// Mark returns the mark of the process; 0 if it has none.
func (l Limits) Mark() Mark {
	if l.Hard >= leastMark && l.Hard < 2*leastMark {
		return Mark(l.Hard)
	}
	return 0
}

// Run returns the number of the run that a marked process belongs to; 0 if it is unknown.
func (l Limits) Run() uint64 {
	if l.Mark() != 0 && l.Soft > leastRun && l.Soft < leastMark {
		return l.Soft - leastRun
	}
	return 0
}

// Lowered reports whether the process may have removed its mark by lowering the limit.
func (l Limits) Lowered() bool { return l.Hard < leastMark }

// Marked returns the ids of the live processes whose limits match, including processes of this user that /proc hides
// (hidepid).
func Marked(match func(pid int, l Limits) bool) (found []int, err error) {
	pids, err := candidates()
	if err != nil {
		return nil, err
	}
	for pid := range pids {
		limits, err := LimitsOf(pid)
		if err != nil || !match(pid, limits) {
			continue
		}
		if p, seen := Look(pid); seen && !p.Dead || !seen && lives(pid) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// hides reports whether /proc hides some processes from this one.
func hides() bool {
	_, err := os.Stat("/proc/1")
	return errors.Is(err, os.ErrNotExist)
}

// candidates returns the ids of all processes, or all possible ids if /proc hides processes.
func candidates() (iter.Seq[int], error) {
	if !hides() {
		pids, err := visible()
		return slices.Values(pids), err
	}
	data, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return nil, err
	}
	most, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return nil, err
	}
	return func(yield func(int) bool) {
		for pid := 2; pid < most && yield(pid); pid++ {
		}
	}, nil
}

// lives reports whether an id belongs to a process, not to one of its other threads, that has not ended.
func lives(id int) bool {
	handle, err := unix.PidfdOpen(id, 0)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
		return false
	case err != nil:
		return true // unknown
	}
	defer func() { _ = unix.Close(handle) }() // only a handle
	ended, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 0)
	return err != nil || ended == 0
}

// KillMarked kills the process with an id if its limits match. It opens a pidfd before it reads the limits, so that it
// cannot kill another process that has received the id since.
func KillMarked(pid int, match func(Limits) bool) error {
	handle, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		defer func() { _ = unix.Close(handle) }() // only a handle
	}
	if limits, failure := LimitsOf(pid); failure != nil || !match(limits) {
		return nil
	}
	switch {
	case err == nil:
		err = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		err = unix.Kill(pid, unix.SIGKILL)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
