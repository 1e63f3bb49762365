package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// smallDisk is the size of a worker's disk where it is to run full.
const smallDisk = 64 << 20

func diskFaults() []fault {
	needs := []resource{aWorker, theStore}
	return []fault{
		{
			name:     "spool-full",
			about:    "more is printed on a worker than its spool holds, while the log store is away",
			takes:    60 * time.Second,
			alone:    true,
			unharmed: true,
			needs:    needs,
			env:      []string{"CARILLON_SPOOL_MAX=16MiB"},
			run:      spoolFull,
		},
		{
			name:     "disk-full",
			about:    "the disk of a worker is full, while the log store is there and while it is away",
			takes:    60 * time.Second,
			alone:    true,
			unharmed: true,
			needs:    needs,
			disk:     smallDisk,
			run:      diskFull,
		},
	}
}

// furnish makes the disks and settings that the faults of a script want. The function
// that it gives takes the disks away.
func furnish(dir string, script []scheduled) (env []string, clear func() error, err error) {
	var disk int64
	for _, s := range script {
		env = append(env, s.env...)
		disk = max(disk, s.disk)
	}
	var mounted []string
	clear = func() error {
		var all []error
		for _, at := range mounted {
			all = append(all, syscall.Unmount(at, syscall.MNT_DETACH))
		}
		return errors.Join(all...)
	}
	if disk == 0 || !inside() { // the fault says that it cannot be made
		return env, clear, nil
	}
	for i := range 3 {
		at := filepath.Join(dir, fmt.Sprintf("worker-%d", i+1))
		if err := os.Mkdir(at, 0o700); err != nil {
			return env, clear, err
		}
		if err := syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", disk)); err != nil {
			return env, clear, fmt.Errorf("make a small disk: %w", err)
		}
		mounted = append(mounted, at)
	}
	return env, clear, nil
}

// flooding makes jobs on one worker that print so much each second, for a time.
func (s *strike) flooding(ctx context.Context, jobs int, bytes int64, length time.Duration) error {
	end := time.Now().Add(length).Truncate(time.Second)
	for i := range jobs {
		o := s.misbehaving(fmt.Sprintf("flooding-%d", i),
			[]string{"-ms", "200", "200", "-flood", strconv.FormatInt(bytes, 10)})
		o.job.AnyText, o.job.MayMiss = true, true
		o.body["placement"] = map[string]any{"workers": []string{s.w.name}}
		o.body["endAt"] = end
		if err := o.make(ctx, 1); err != nil {
			return err
		}
		o.job.Spells[0].Until, o.job.Spells[0].UntilLate = end, end
		o.done()
	}
	return nil
}

// tells waits until the worker raises a condition, or ends it.
func (s *strike) tells(ctx context.Context, code string, on bool) error {
	what := fmt.Sprintf("%s says that %s is %t", s.w.name, code, on)
	return s.wait(ctx, 40*time.Second, what, func() bool {
		m, err := s.metrics(ctx, s.w)
		return err == nil && (m[`carillon_condition{code="`+code+`"}`] > 0) == on ||
			harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
}

// promise makes a broken promise of an error.
func promise(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errPromise, err)
}

func spoolFull(ctx context.Context, s *strike) error {
	defer s.begin(check.Event{Kind: check.OutputLimited, Worker: s.w.id})()
	if err := s.flooding(ctx, 3, 2<<20, 25*time.Second); err != nil {
		return err
	}
	full := make(chan error, 1)
	go func() { full <- s.tells(ctx, "spool_full", true) }()
	err := s.storeBehind(ctx, manner{refuse: true}, 30*time.Second)
	return errors.Join(err, promise(<-full), promise(s.tells(ctx, "spool_full", false)))
}

func diskFull(ctx context.Context, s *strike) error {
	if !inside() {
		return errors.New("needs mounts of its own")
	}
	defer s.begin(check.Event{Kind: check.OutputLimited, Worker: s.w.id})()
	filler := filepath.Join(s.w.dir, "filler")
	if err := fill(filler); err != nil {
		return err
	}
	err := harness.Sleep(ctx, 10*time.Second)
	full := make(chan error, 1)
	go func() { full <- s.tells(ctx, "disk_full", true) }()
	err = errors.Join(err, s.storeBehind(ctx, manner{refuse: true}, 25*time.Second), promise(<-full), os.Remove(filler))
	return errors.Join(err, promise(s.tells(ctx, "disk_full", false)))
}

// fill writes a file until the disk takes no more.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for err == nil {
		_, err = f.Write(block)
		if errors.Is(err, syscall.ENOSPC) && len(block) > 1 {
			block, err = block[:len(block)/2], nil
		}
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
