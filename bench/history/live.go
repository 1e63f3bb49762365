package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
)

const (
	printedBefore = 10 << 20         // of output at the start of the followers
	followFor     = 10 * time.Second // and the output printed in that time
	linesEvery    = 20 * time.Millisecond
	jumps         = 100
	crowd         = 100
)

// live follows an active run with 10 MB of output, as the API does: one follower, then a hundred, then some
// that start at the end.
func live(ctx context.Context, b *bench) ([]line, error) {
	const first, memory = 200 * time.Millisecond, 8 << 20
	alone, err := follow(ctx, b, 1, 0)
	if err != nil {
		return nil, err
	}
	many, err := follow(ctx, b, crowd, jumps)
	if err != nil {
		return nil, err
	}
	each := many.memory / crowd
	return []line{
		judged("10 MB of output: jump to the end of a run that prints, first byte, 100 followers beside",
			"max < 200 ms", many.jumps.String(), many.jumps.quantile(1) < first),
		judged(
			fmt.Sprintf("10 MB of output, followed from its beginning by %d: memory for each, their clients' among it",
				crowd), "< 8 MiB", fmt.Sprintf("%.2f MiB", float64(each)/(1<<20)), each < memory),
		{
			what:     fmt.Sprintf("reads of the store until they have caught up: one follower; %d followers", crowd),
			measured: fmt.Sprintf("%d; %d", alone.caughtUp, many.caughtUp),
		},
		{
			what: fmt.Sprintf("reads of the store in %s after that, while %d lines are printed: one follower; %d "+
				"followers", followFor, followFor/linesEvery, crowd),
			measured: fmt.Sprintf("%d; %d", alone.reads, many.reads),
		},
		{what: "from the store to a follower, one follower", measured: alone.delays.String()},
		{what: fmt.Sprintf("from the store to a follower, %d followers", crowd), measured: many.delays.String()},
	}, nil
}

// followed is the result of following.
type followed struct {
	caughtUp, reads int64 // of the store
	memory          int64
	jumps           times
	delays          times
}

type unasked = httpapi.Runs

// outputBackend is a run that prints, and counts its reads.
type outputBackend struct {
	unasked // except for the methods below
	store   store
	reads   atomic.Int64

	mu  sync.Mutex
	run common.Run // guarded by mu
}

func (t *outputBackend) Run(context.Context, string) (common.Run, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run, nil
}

func (t *outputBackend) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	t.reads.Add(1)
	return t.store.Output(ctx, run, offset, limit)
}

func (t *outputBackend) print(ctx context.Context, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := common.Chunk{Run: t.run.ID, Offset: t.run.OutputBytes, Stream: common.Stdout, At: time.Now(), Data: data}
	t.run.OutputBytes = c.End()
	return t.store.Write(ctx, runlog.Batch{Chunks: []common.Chunk{c}})
}

func (t *outputBackend) Authenticate(context.Context, access.Credential) (access.Identity, error) {
	return access.Identity{Name: "bench", Role: access.Viewer}, nil
}

func (t *outputBackend) Login(context.Context, access.Login) (access.Session, error) {
	return access.Session{}, errors.New("logins are not supported")
}

func (t *outputBackend) KnownNetwork(context.Context, string, string) bool { return true }

func (t *outputBackend) Logout(context.Context, common.Actor, string) error { return nil }

// follow starts followers of a run from its beginning.
func follow(ctx context.Context, b *bench, followers, jump int) (out followed, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	fire := common.TriggeredFire(common.NewID(), common.NewID())
	t := &outputBackend{
		store: b.store,
		run: common.Run{
			ID:      common.RunID(fire, 1),
			Job:     "talker",
			Fire:    fire,
			Attempt: 1,
			Status:  common.StatusRunning,
		},
	}
	text := bytes.Repeat([]byte("2026-11-01 12:00:00 the next part is done, 日本語\n"),
		common.MaxChunk/50+1)[:common.MaxChunk]
	for t.run.OutputBytes < printedBefore {
		if err := t.print(ctx, text); err != nil {
			return out, err
		}
	}
	hub := tail.New(t, tail.Config{})
	handler, err := httpapi.New(httpapi.Config{
		Runs:      t,
		Following: hub,
		Auth:      t,
		Metrics:   http.NotFoundHandler(),
		Schedules: schedule.NewInterner(),
		Version:   "bench",
		Timezone:  "UTC",
		Logger:    slog.New(slog.DiscardHandler),
		Now:       time.Now,
	})
	if err != nil {
		return out, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return out, err
	}
	server := httpapi.Server(handler, slog.New(slog.DiscardHandler), nil)
	server.RegisterOnShutdown(hub.Stop)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	defer func() {
		err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)))
		serving.Wait()
	}()
	url := "http://" + listener.Addr().String() + "/api/v1/runs/" + t.run.ID + "/output/stream"

	before := inUse()
	peak := before
	var readers, behind sync.WaitGroup
	behind.Add(followers)
	results := make(chan error, followers)
	var mu sync.Mutex
	for range followers {
		readers.Go(func() {
			late := true
			results <- readStream(ctx, url, func(data []byte, now time.Time) bool {
				var offset int64
				if late {
					_, err := fmt.Sscanf(string(data[:20]), `{"offset":%d`, &offset)
					if late = err != nil || offset < printedBefore-common.MaxChunk; !late {
						behind.Done()
					}
				}
				if _, at, ok := bytes.Cut(data, []byte(`"text":"@`)); ok {
					digits, _, _ := bytes.Cut(at, []byte(`\n`))
					var sent int64
					if _, err := fmt.Sscan(string(digits), &sent); err == nil {
						mu.Lock()
						out.delays = append(out.delays, now.Sub(time.Unix(0, sent)))
						mu.Unlock()
					}
				}
				return true
			})
		})
	}
	caughtUp := make(chan struct{})
	go func() { behind.Wait(); close(caughtUp) }()
	tick := time.NewTicker(linesEvery)
	defer tick.Stop()
	for began := (time.Time{}); began.IsZero() || time.Since(began) < followFor; {
		select {
		case err := <-results:
			return out, fmt.Errorf("a follower ended: %w", err)
		case <-caughtUp:
			began, caughtUp, out.caughtUp = time.Now(), nil, t.reads.Load()
		case <-tick.C:
			peak = max(peak, inUse())
			if began.IsZero() {
				continue
			}
		}
		if err := t.print(ctx, fmt.Appendf(nil, "@%d\n", time.Now().UnixNano())); err != nil {
			return out, err
		}
	}
	out.reads, out.memory = t.reads.Load()-out.caughtUp, int64(peak-before)
	for range jump {
		took, err := measure(1, func(int) error {
			seen := false
			err := readStream(ctx, url+"?tail=65536", func([]byte, time.Time) bool { seen = true; return false })
			if err == nil && !seen {
				err = errors.New("nothing came")
			}
			return err
		})
		if err != nil {
			return out, fmt.Errorf("jump: %w", err)
		}
		out.jumps = append(out.jumps, took...)
	}
	t.mu.Lock()
	t.run.Status, t.run.EndedAt = common.StatusSucceeded, new(time.Now())
	t.mu.Unlock()
	readers.Wait()
	close(results)
	for one := range results {
		err = errors.Join(err, one)
	}
	return out, err
}

// readStream sends the data of each event of output, and ends with the run, or when it is stopped.
func readStream(ctx context.Context, url string, take func(data []byte, now time.Time) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer bench")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the stream is refused with %s", resp.Status)
	}
	event := ""
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case field == "event":
			event = value
		case field == "data" && event == "end":
			return nil
		case field == "data" && event == "output":
			if !take([]byte(value), time.Now()) {
				return nil
			}
		}
	}
	return errors.Join(lines.Err(), io.ErrUnexpectedEOF)
}

// inUse returns the memory in use.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
