package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"carillon/test/harness"
)

// vitals are what a worker holds while it is at rest.
type vitals struct {
	Jobs       int   `json:"jobs"` // in its plan
	Goroutines int   `json:"goroutines"`
	Files      int   `json:"files"` // open descriptors
	Memory     int64 `json:"memory"`
}

// How much more a worker may hold after a trial than before it: connections that idle,
// and memory that was not given back yet.
const (
	moreGoroutines = 40
	moreFiles      = 30
	moreMemory     = 64 << 20
	// converging is how long it may take until it is so: an idle Go program collects its
	// garbage every two minutes, and gives back then what it does not need.
	converging = 3 * time.Minute
)

// metrics reads the page of a worker. A sample's name has its labels, as printed.
func (s *stack) metrics(ctx context.Context, w *worker) (map[string]float64, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.dir, w.name+".sock"))
		}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://worker/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics of %s: %d", w.name, resp.StatusCode)
	}
	return samples(resp.Body)
}

func samples(r io.Reader) (map[string]float64, error) {
	all := map[string]float64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); found && err == nil && name != "#" {
			all[name] = v
		}
	}
	return all, lines.Err()
}

func (s *stack) vitals(ctx context.Context, w *worker) (vitals, error) {
	m, err := s.metrics(ctx, w)
	if err != nil {
		return vitals{}, err
	}
	return vitals{
		Jobs:       int(m["carillon_planned_jobs"]),
		Goroutines: int(m["go_goroutines"]),
		Files:      int(m["process_open_fds"]),
		Memory:     int64(m["process_resident_memory_bytes"]),
	}, nil
}

// allVitals are those of all workers, by name.
func (s *stack) allVitals(ctx context.Context) (map[string]vitals, error) {
	all := map[string]vitals{}
	for _, w := range s.workers {
		v, err := s.vitals(ctx, w)
		if err != nil {
			return nil, err
		}
		all[w.name] = v
	}
	return all, nil
}

// converged waits until all workers plan the same jobs as are defined, and hold about as
// much as before; otherwise it says who does not.
func (s *stack) converged(ctx context.Context, before map[string]vitals) (after map[string]vitals, apart string) {
	err := s.wait(ctx, converging, "all workers are as before", func() bool {
		jobs, err := s.defined(ctx)
		if err == nil {
			after, err = s.allVitals(ctx)
		}
		if err != nil {
			apart = err.Error()
		} else {
			apart = differences(before, after, jobs)
		}
		return apart == "" || harness.Sleep(ctx, time.Second) != nil
	})
	if err != nil && apart == "" {
		apart = err.Error()
	}
	return after, apart
}

func differences(before, after map[string]vitals, jobs int) string {
	var all []string
	for name, a := range after {
		b := before[name]
		if a.Jobs != jobs {
			all = append(all, fmt.Sprintf("%s plans %d jobs of %d", name, a.Jobs, jobs))
		}
		if a.Goroutines > b.Goroutines+moreGoroutines {
			all = append(all, fmt.Sprintf("%s has %d goroutines, and had %d", name, a.Goroutines, b.Goroutines))
		}
		if a.Files > b.Files+moreFiles {
			all = append(all, fmt.Sprintf("%s has %d open files, and had %d", name, a.Files, b.Files))
		}
		if a.Memory > b.Memory+moreMemory {
			all = append(all, fmt.Sprintf("%s holds %d MiB, and held %d", name, a.Memory>>20, b.Memory>>20))
		}
	}
	return strings.Join(all, "; ")
}

// defined is how many jobs there are.
func (s *stack) defined(ctx context.Context) (int, error) {
	n, err := s.count(ctx, "/cron/jobs/")
	return int(n), err
}
