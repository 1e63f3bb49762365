package executor

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSamples samples 100 runs of a sleeping command at each iteration. core-% is the share of a core that this
// costs while samples are fine.
func BenchmarkSamples(b *testing.B) {
	x := &Executor{cfg: Config{Now: time.Now}}
	ctx, cancel := context.WithCancel(b.Context())
	for range 100 {
		cmd := exec.CommandContext(ctx, "/bin/sleep", "300")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = cmd.Wait() }) // it is killed
		x.measure(&Task{}, &process{pid: cmd.Process.Pid}, nil)
	}
	b.Cleanup(cancel)
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	now := time.Now()
	for b.Loop() {
		now = now.Add(time.Minute)
		x.samplePass(now)
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(used)/float64(b.N)/float64(2*time.Second)*100, "core-%")
}
