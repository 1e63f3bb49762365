package executor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
)

// sampled is an Output that keeps the last samples that it got.
type sampled struct {
	*recorder
	mu   sync.Mutex
	last common.Usage
}

func (s *sampled) Usage(u common.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = u
}

func (s *sampled) samples() []common.UsageSample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Samples
}

const (
	heldBytes    = 50_000_000
	writtenBytes = 8 << 20
)

// uses is a command that writes a file, holds memory, and has a child that uses CPU time and that it does not wait
// for, until a file exists.
const uses = `dd if=/dev/zero of=written bs=1M count=8 conv=fsync 2>/dev/null
held=$(head -c 50000000 /dev/zero | tr '\0' x)
(while :; do :; done) & while [ ! -e %q ]; do sleep 0.1; done; kill $!`

func TestSamples_CoverAllProcesses(t *testing.T) {
	t.Parallel()
	folder, stop := t.TempDir(), filepath.Join(t.TempDir(), "stop")
	task := shell(fmt.Sprintf(uses, stop))
	task.Job.WorkDir = folder
	out := &sampled{recorder: record(t, task)}
	x := newAdopter(t)
	ended := make(chan common.Run, 1)
	go func() { ended <- x.Run(t.Context(), task, out) }()
	waitFor(t, func() bool {
		got := out.samples()
		return len(got) > 1 && got[len(got)-1].CPUSeconds > 0.5
	})
	live := out.samples()
	now := live[len(live)-1]
	if now.MemoryBytes < heldBytes || now.Processes < 3 {
		t.Errorf("while it runs: %+v", now)
	}
	touch(t, stop)
	run := <-ended
	if run.Status != common.StatusSucceeded {
		t.Fatalf("%+v", run)
	}
	all := out.samples()
	last := all[len(all)-1]
	if len(all) < len(live) || last.Processes != 0 || last.MemoryBytes != 0 {
		t.Errorf("%d samples, the last one %+v", len(all), last)
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if !b.At.After(a.At) || b.CPUSeconds < a.CPUSeconds || b.ReadBytes < a.ReadBytes ||
			b.WrittenBytes < a.WrittenBytes {
			t.Errorf("%+v after %+v", b, a)
		}
	}
	if run.CPUSeconds < now.CPUSeconds || run.MaxRSSBytes < now.MemoryBytes || run.WrittenBytes < now.WrittenBytes ||
		run.CPUSeconds-last.CPUSeconds > 0.001 || run.WrittenBytes != last.WrittenBytes {
		t.Errorf("the run has %v s, %d and %d bytes; sampled %+v, %+v", run.CPUSeconds, run.MaxRSSBytes,
			run.WrittenBytes, now, last)
	}
	if onDisk(t, folder) && run.WrittenBytes < writtenBytes {
		t.Errorf("%d bytes written, want %d", run.WrittenBytes, writtenBytes)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// onDisk reports whether what is written to a folder reaches a disk.
func onDisk(t *testing.T, folder string) bool {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		t.Fatal(err)
	}
	const ext4, xfs, btrfs = 0xef53, 0x58465342, 0x9123683e
	return fs.Type == ext4 || fs.Type == xfs || fs.Type == btrfs
}

// A run that is shorter than the first sample has none, but what it wrote.
func TestSamples_ShortRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	task := shell("dd if=/dev/zero of=written bs=1M count=8 conv=fsync 2>/dev/null")
	task.Job.WorkDir = folder
	out := &sampled{recorder: record(t, task)}
	began := time.Now()
	run := newExecutor(t).Run(t.Context(), task, out)
	if time.Since(began) < time.Second && len(out.samples()) > 0 {
		t.Errorf("samples %+v", out.samples())
	}
	if onDisk(t, folder) && run.WrittenBytes < writtenBytes {
		t.Errorf("%d bytes written, want %d", run.WrittenBytes, writtenBytes)
	}
}

// The use of a process that outlived its parents counts, although the command did not wait for it.
func TestSamples_OrphansCount(t *testing.T) {
	t.Parallel()
	stop := filepath.Join(t.TempDir(), "stop")
	task := shell(fmt.Sprintf(`(setsid sh -c 'while :; do :; done' &); while [ ! -e %q ]; do sleep 0.1; done`, stop))
	out := &sampled{recorder: record(t, task)}
	x := newAdopter(t)
	ended := make(chan common.Run, 1)
	go func() { ended <- x.Run(t.Context(), task, out) }()
	waitFor(t, func() bool {
		got := out.samples()
		return len(got) > 0 && got[len(got)-1].CPUSeconds > 0.5
	})
	touch(t, stop)
	if run := <-ended; run.CPUSeconds < 0.5 {
		t.Errorf("%v CPU seconds", run.CPUSeconds)
	}
}
