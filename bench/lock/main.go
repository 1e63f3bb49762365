// Command lock measures named locks of package carillon/lock on an etcd of its own: taking a free lock, handing a lock
// over in a queue of a thousand clients, and taking it over from a process that was killed. It prints goals and results
// as a Markdown table; docs/benchmarks.md describes the rows.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/lock"
	"carillon/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lock:", err)
		os.Exit(1)
	}
}

const name = "bench.lock"

// bench is one run.
type bench struct {
	client   *clientv3.Client
	endpoint string
	out      io.Writer
	waiters  int
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("lock", flag.ContinueOnError)
	bin := flags.String("bin", "bin/bench", "folder with the program etcd")
	waiters := flags.Int("waiters", 1000, "clients in the queue")
	hold := flags.String("hold", "", "endpoint of etcd: only hold the lock, as the process that is killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *hold != "" {
		return holdLock(ctx, *hold, out)
	}
	dir, err := os.MkdirTemp("", "carillon-bench-lock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	etcd, endpoint, err := startEtcd(*bin, dir)
	if err != nil {
		return err
	}
	defer etcd.Kill()
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{endpoint}})
	if err != nil {
		return err
	}
	defer client.Close()
	b := &bench{client: client, endpoint: endpoint, out: out, waiters: *waiters}
	fmt.Fprintln(out, "| Row | Goal | Result |\n|---|---|---|")
	for _, row := range []func(context.Context) error{b.free, b.handover, b.killed} {
		if err := row(ctx); err != nil {
			return err
		}
	}
	return nil
}

func startEtcd(bin, dir string) (*harness.Process, string, error) {
	address, err := harness.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	peer, err := harness.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err := harness.Start(harness.Command{
		Name: "etcd",
		Path: filepath.Join(bin, "etcd"),
		Log:  filepath.Join(dir, "etcd.log"),
		Args: []string{"--data-dir", filepath.Join(dir, "etcd"), "--log-level", "error",
			"--listen-client-urls", "http://" + address, "--advertise-client-urls", "http://" + address,
			"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer,
			"--initial-cluster", "default=http://" + peer},
	})
	return p, "http://" + address, err
}

// free takes and releases a free lock.
func (b *bench) free(ctx context.Context) error {
	l := lock.New(b.client, name, lock.Options{})
	var took []time.Duration
	for i := range 220 {
		began := time.Now()
		held, err := l.Acquire(ctx)
		if err != nil {
			return err
		}
		if i >= 20 { // the first ones warm up
			took = append(took, time.Since(began))
		}
		if err := held.Release(ctx); err != nil {
			return err
		}
	}
	b.print("take a free lock", "p50 ≤ 5 ms", took)
	return nil
}

// handover lets a queue of clients take the lock one after the other.
func (b *bench) handover(ctx context.Context) error {
	const handovers = 200
	options := lock.Options{TTL: time.Minute, Grace: 10 * time.Minute}
	first, err := lock.New(b.client, name, options).Acquire(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	acquired := make(chan *lock.Held)
	ended := make(chan struct{}, b.waiters)
	for range b.waiters {
		go func() {
			defer func() { ended <- struct{}{} }()
			if held, err := lock.New(b.client, name, options).Acquire(ctx); err == nil {
				acquired <- held
			}
		}()
	}
	if err := b.await(ctx, int64(b.waiters)); err != nil {
		return err
	}
	before, err := b.revision(ctx)
	if err != nil {
		return err
	}
	var took []time.Duration
	held := first
	for range handovers {
		began := time.Now()
		released := make(chan error, 1)
		go func(h *lock.Held) { released <- h.Release(ctx) }(held)
		held = <-acquired
		took = append(took, time.Since(began))
		if err := <-released; err != nil {
			return err
		}
	}
	after, err := b.revision(ctx)
	if err != nil {
		return err
	}
	b.print(fmt.Sprintf("release to next owner, %d waiters", b.waiters), "≤ 10 ms", took)
	fmt.Fprintf(b.out, "| transactions per handover, beside the release | 1 | %.2f |\n",
		float64(after-before)/handovers-1)
	go func() {
		for h := range acquired { // of those that acquire it while they end
			_ = h.Release(context.WithoutCancel(ctx))
		}
	}()
	err = held.Release(ctx)
	cancel()
	for range b.waiters {
		<-ended
	}
	close(acquired)
	return err
}

// await waits until so many clients are in the queue.
func (b *bench) await(ctx context.Context, n int64) error {
	for {
		count, err := etcdkit.Count(ctx, b.client, common.LockQueueOf(name))
		if err != nil || count == n {
			return err
		}
		if err := harness.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (b *bench) revision(ctx context.Context) (int64, error) {
	resp, err := etcdkit.Range(ctx, b.client, common.LockOwnerKey(name))
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// killed kills a process that holds the lock.
func (b *bench) killed(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	holder := exec.CommandContext(ctx, self, "-hold", b.endpoint)
	stdout, err := holder.StdoutPipe()
	if err != nil {
		return err
	}
	if err := holder.Start(); err != nil {
		return err
	}
	defer holder.Wait() // it was killed
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		return errors.Join(fmt.Errorf("the holder printed %q", line), err)
	}
	type result struct {
		held *lock.Held
		err  error
	}
	acquired := make(chan result, 1)
	go func() {
		held, err := lock.New(b.client, name, killedOptions()).Acquire(ctx)
		acquired <- result{held, err}
	}()
	if err := b.await(ctx, 1); err != nil {
		return err
	}
	began := time.Now()
	if err := holder.Process.Kill(); err != nil {
		return err
	}
	r := <-acquired
	if r.err != nil {
		return r.err
	}
	b.print("holder killed, TTL 5 s, grace 10 s: next owner", "≤ 20 s", []time.Duration{time.Since(began)})
	return r.held.Release(ctx)
}

func killedOptions() lock.Options {
	return lock.Options{TTL: 5 * time.Second, Grace: 10 * time.Second, StopGrace: time.Second}
}

func holdLock(ctx context.Context, endpoint string, out io.Writer) error {
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{endpoint}})
	if err != nil {
		return err
	}
	defer client.Close()
	held, err := lock.New(client, name, killedOptions()).Acquire(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "held")
	<-held.Context().Done()
	return context.Cause(held.Context())
}

func (b *bench) print(row, goal string, took []time.Duration) {
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	if len(took) == 1 {
		fmt.Fprintf(b.out, "| %s | %s | %v |\n", row, goal, p50.Round(time.Millisecond))
		return
	}
	fmt.Fprintf(b.out, "| %s | %s | p50 %v, p99 %v |\n", row, goal, p50.Round(10*time.Microsecond),
		p99.Round(10*time.Microsecond))
}
