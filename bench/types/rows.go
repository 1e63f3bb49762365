package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/test/harness"
)

const (
	atOnce      = 64
	hungLimit   = 300 << 20
	killLimit   = time.Second
	aboveClient = 2 * time.Millisecond
	sendLimit   = 2 * time.Minute
	plugInTimes = 1.1
	leastRate   = 3000
	// commandTimes is how many times the rate of a command that does nothing requests must reach.
	commandTimes = 2
)

// times returns the durations of n calls, one after the other, in order.
func times(n int, call func() error) ([]time.Duration, error) {
	all := make([]time.Duration, n)
	for i := range all {
		began := time.Now()
		if err := call(); err != nil {
			return nil, err
		}
		all[i] = time.Since(began)
	}
	slices.Sort(all)
	return all, nil
}

func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// rate returns the calls per second of n calls, several at a time.
func rate(n int, call func() error) (float64, error) {
	var group sync.WaitGroup
	var left atomic.Int64
	var failed atomic.Pointer[error]
	left.Store(int64(n))
	began := time.Now()
	for range atOnce {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// requests compares runs of the type http with a bare client, and with a command that does nothing.
func (b *bench) requests(ctx context.Context) ([]line, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}
	defer client.CloseIdleConnections()
	bare := func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	job := b.request("/")
	ours := func() error { return b.once(ctx, job) }
	nothing := &common.Job{Name: "true", Args: []string{"/bin/true"}}
	plain, err := times(b.runs, bare)
	if err != nil {
		return nil, err
	}
	runs, err := times(b.runs, ours)
	if err != nil {
		return nil, err
	}
	fast, err := rate(b.runs, ours)
	if err != nil {
		return nil, err
	}
	slow, err := rate(b.runs/5, func() error { return b.once(ctx, nothing) })
	if err != nil {
		return nil, err
	}
	above := middle(runs) - middle(plain)
	return []line{
		judged(fmt.Sprintf("a request, p50 of %d: above a bare client", b.runs), "≤ 2 ms",
			fmt.Sprintf("%.2f ms (%.2f and %.2f ms)", ms(above), ms(middle(runs)), ms(middle(plain))),
			above <= aboveClient),
		judged(fmt.Sprintf("requests, %d at once, without etcd; `/bin/true` as `args`", atOnce),
			"≥ 3,000 runs/s, or × 2", fmt.Sprintf("%.0f and %.0f runs/s: × %.1f", fast, slow, fast/slow),
			fast >= min(leastRate, commandTimes*slow)),
	}, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// plugIn compares runs of a plug-in with the same program as a command, in turn.
func (b *bench) plugIn(ctx context.Context) ([]line, error) {
	typed := &common.Job{Name: "typed", Type: "bench", With: common.With{"text": "hello"}}
	command := &common.Job{Name: "command", Args: []string{b.program(), "run"}, Stdin: strings.Repeat("x", 300)}
	var plugged, plain []time.Duration
	for range 10 {
		for _, c := range []struct {
			job *common.Job
			all *[]time.Duration
		}{{typed, &plugged}, {command, &plain}} {
			took, err := times(b.runs/50, func() error { return b.once(ctx, c.job) })
			if err != nil {
				return nil, err
			}
			*c.all = append(*c.all, took...)
		}
	}
	slices.Sort(plugged)
	slices.Sort(plain)
	ratio := float64(middle(plugged)) / float64(middle(plain))
	what := fmt.Sprintf("a plug-in, p50 of %d: beside the same program as `args`", len(plugged))
	return []line{judged(what, "≤ × 1.1",
		fmt.Sprintf("× %.2f (%.2f and %.2f ms)", ratio, ms(middle(plugged)), ms(middle(plain))),
		ratio <= plugInTimes)}, nil
}

// counted counts runs whose request has been sent.
type counted struct{ sent *atomic.Int64 }

func (c counted) Chunk(common.Chunk) { c.sent.Add(1) }

// hang sends requests that are not answered, and kills their runs.
func (b *bench) hang(ctx context.Context) ([]line, error) {
	before, err := resident()
	if err != nil {
		return nil, err
	}
	kill, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	job := b.request("/hang")
	var sent, wrong atomic.Int64
	var group sync.WaitGroup
	for range b.hung {
		group.Go(func() {
			run := b.executor.Run(kill, taskOf(job), counted{&sent})
			if run.Status != common.StatusKilled {
				wrong.Add(1)
			}
		})
	}
	if err := harness.Until(ctx, sendLimit, "all requests are sent", func() bool {
		return wrong.Load() > 0 || sent.Load() >= int64(b.hung)
	}); err != nil || wrong.Load() > 0 {
		cancel(inside.Killed{By: "bench"})
		group.Wait()
		return nil, errors.Join(err, fmt.Errorf("%d of %d requests were sent, and %d ended too early", sent.Load(),
			b.hung, wrong.Load()))
	}
	used, err := resident()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	cancel(inside.Killed{By: "bench"})
	group.Wait()
	took := time.Since(began)
	if wrong.Load() > 0 {
		return nil, fmt.Errorf("%d runs were not killed", wrong.Load())
	}
	runtime.GC()
	return []line{
		judged(fmt.Sprintf("%d requests without an answer: resident memory of the process", b.hung), "≤ 300 MiB",
			fmt.Sprintf("%.0f MiB (%.0f MiB before)", mib(used), mib(before)), used <= hungLimit),
		judged("their end after a kill, the last one", "≤ 1 s", fmt.Sprintf("%.0f ms", ms(took)), took <= killLimit),
	}, nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// resident returns the resident memory of this process in bytes.
func resident() (int64, error) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/self/statm has %d fields", len(fields))
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
