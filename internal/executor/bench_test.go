package executor_test

import (
	"testing"

	"carillon/internal/common"
)

func BenchmarkRunTrue(b *testing.B) {
	x := newExecutor(b)
	b.ReportAllocs()
	for b.Loop() {
		if got := x.Run(b.Context(), shell("true"), discard{}); got.Status != common.StatusSucceeded {
			b.Fatal(got.Reason)
		}
	}
}

func BenchmarkRunTrueParallel(b *testing.B) {
	x := newExecutor(b)
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := x.Run(b.Context(), shell("true"), discard{}); got.Status != common.StatusSucceeded {
				b.Error(got.Reason)
			}
		}
	})
}

func BenchmarkFlood(b *testing.B) {
	x := newExecutor(b)
	const size = 100_000_000
	b.SetBytes(size)
	for b.Loop() {
		if got := x.Run(b.Context(), shell("head -c 100000000 /dev/zero"), discard{}); got.OutputBytes != size {
			b.Fatal(got.OutputBytes)
		}
	}
}
