package executor_test

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"

	"carillon/internal/common"
	"carillon/internal/executor"
)

func BenchmarkRunTrue(b *testing.B) {
	x := newAdopter(b)
	b.ReportAllocs()
	for b.Loop() {
		if got := x.Run(b.Context(), shell("true"), discard{}); got.Status != common.StatusSucceeded {
			b.Fatal(got.Reason)
		}
	}
}

// BenchmarkStarts puts runs beside the bare start of the same command, several at a
// time each. cpu-ns/op is of this process and of what it started.
func BenchmarkStarts(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			b.Fatal(err)
		}
		defer null.Close()
		metered(b, func() error {
			p, err := os.StartProcess("/bin/sh", []string{"/bin/sh", "-c", "true"},
				&os.ProcAttr{Files: []*os.File{null, null, null}})
			if err != nil {
				return err
			}
			_, err = p.Wait()
			return err
		})
	})
	for name, of := range map[string]func(testing.TB) *executor.Executor{"run": newAdopter, "marked": newMarked} {
		benchmarkStarts(b, name, of(b))
	}
}

func benchmarkStarts(b *testing.B, name string, x *executor.Executor) {
	b.Run(name, func(b *testing.B) {
		metered(b, func() error {
			if got := x.Run(b.Context(), shell("true"), discard{}); got.Status != common.StatusSucceeded {
				return errors.New(got.Reason.Text)
			}
			return nil
		})
	})
}

func metered(b *testing.B, each func() error) {
	b.SetParallelism(8)
	b.ReportAllocs()
	before := cpu(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := each(); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpu(b *testing.B) (ns int64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		ns += used.Utime.Nano() + used.Stime.Nano()
	}
	return ns
}

func BenchmarkFlood(b *testing.B) {
	x := newAdopter(b)
	const size = 100_000_000
	b.SetBytes(size)
	for b.Loop() {
		if got := x.Run(b.Context(), shell("head -c 100000000 /dev/zero"), discard{}); got.OutputBytes != size {
			b.Fatal(got.OutputBytes)
		}
	}
}

// BenchmarkStartsBesideDescriptors measures starts while the process has many descriptors open, as a worker with many
// long runs has.
func BenchmarkStartsBesideDescriptors(b *testing.B) {
	for _, n := range []int{0, 300, 1000, 3000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x := newAdopter(b)
			for range n {
				f, err := os.Open(os.DevNull)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
			}
			metered(b, func() error {
				got := x.Run(b.Context(), newTask(common.Job{Args: []string{"/bin/true"}}), discard{})
				if got.Status != common.StatusSucceeded {
					return errors.New(got.Reason.Text)
				}
				return nil
			})
		})
	}
}
