package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
)

// The history is that of a cluster of eight workers. Some jobs run every few seconds, most of them every
// quarter of an hour or more rarely, so that a hundredth of the jobs has a third of the runs.
const (
	jobCount    = 200
	groupCount  = 12
	workerCount = 8
	dayCount    = 10
)

var begin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

var end = begin.AddDate(0, 0, dayCount)

// seldom is the number of seconds between the runs of jobs, for a million runs.
var seldom = []struct{ jobs, seconds int }{{2, 5}, {10, 20}, {40, 300}, {100, 900}, {48, 3600}}

// history returns its runs by their index in time, always the same.
type history struct {
	fires []fire
}

type fire struct {
	at  int64 // milliseconds since the beginning
	job int32
}

func newHistory(runs int) history {
	var fires []fire
	job := int32(0)
	for _, s := range seldom {
		for range s.jobs {
			step := int64(s.seconds) * 1000 * 1_000_000 / int64(runs)
			// Jobs begin at different times; a job fires at whole steps from there.
			for at := int64(mix(uint64(job), 1) % uint64(step)); at < int64(dayCount)*86_400_000; at += step {
				fires = append(fires, fire{at, job})
			}
			job++
		}
	}
	slices.SortFunc(fires, func(a, b fire) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job)) })
	return history{fires[:min(runs, len(fires))]}
}

// mix returns a pseudo-random number (splitmix64).
func mix(n, salt uint64) uint64 {
	n = (n+1)*0x9e3779b97f4a7c15 + salt*0xbf58476d1ce4e5b9
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func jobName(n int) string {
	return fmt.Sprintf("%s-%03d", []string{"report", "backup", "sync", "clean"}[n%4], n)
}
func groupName(n int) string  { return fmt.Sprintf("team-%02d", n%groupCount) }
func workerID(n int) string   { return fmt.Sprintf("worker%02dabcdefgh", n) }
func workerName(n int) string { return fmt.Sprintf("host-%d.example", n) }

// jobs returns the names of those that have a run.
func (h *history) jobs() (names []string) {
	var has [jobCount]bool
	for _, f := range h.fires {
		has[f.job] = true
	}
	for job, any := range has {
		if any {
			names = append(names, jobName(job))
		}
	}
	return names
}

// run returns the n-th run in the order of time; most succeeded.
func (h *history) run(n int) common.Run {
	f := h.fires[n]
	job := int(f.job)
	chance := mix(uint64(n), 2)
	planned := begin.Add(time.Duration(f.at) * time.Millisecond)
	uid := fmt.Sprintf("k3f9a2c71e04b%03d", job)
	r := common.Run{
		Job:        jobName(job),
		JobUID:     uid,
		JobVersion: 4711 + int64(job),
		Group:      groupName(job),
		Fire:       common.PlannedFire(uid, planned),
		PlannedAt:  planned,
		Cause:      common.CauseCron,
		Attempt:    1,
		Status:     common.StatusSucceeded,
	}
	switch c := chance % 1000; {
	case c < 7:
		r.Cause, r.TriggeredBy, r.Note = common.CauseManual, "ada", "asked for in the console"
		r.Fire = common.TriggeredFire(uid, fmt.Sprintf("m%08d", n))
	case c < 27:
		r.Cause, r.Attempt = common.CauseRetry, 2
	case c < 29:
		r.Cause = common.CauseCatchUp
	case c < 30:
		r.Cause, r.Attempt = common.CauseRerun, 3
	}
	worker := int(chance >> 10 % workerCount)
	took := time.Duration(200+chance>>20%4000*uint64(1+job%7)) * time.Millisecond
	exit := 0
	switch c := chance >> 32 % 1000; {
	case c < 40:
		r.Status, exit = common.StatusFailed, []int{1, 1, 1, 1, 1, 2, 2, 3, 126, 137}[chance>>42%10]
		r.Reason = &common.Reason{
			Code: "exit_code",
			Data: map[string]string{"code": fmt.Sprint(exit)},
			Text: fmt.Sprintf("the command ended with code %d", exit),
		}
	case c < 50:
		r.Status, exit, r.Signal = common.StatusTimedOut, -1, "SIGTERM"
		r.Reason = &common.Reason{Code: "timeout", Text: "the command ran longer than its timeout of 30s"}
	case c < 53:
		r.Status, exit, r.Signal = common.StatusKilled, -1, "SIGTERM"
		r.Reason = &common.Reason{Code: "killed", Data: map[string]string{"by": "ada"}, Text: "killed by ada"}
	case c < 55:
		r.Status, exit = common.StatusLost, -1
		r.Reason = &common.Reason{Code: "lease_expired", Text: "the worker's lease expired"}
	case c < 62:
		r.Status, r.Attempt, worker = common.StatusSkipped, 0, -1
		r.Reason = &common.Reason{Code: "overlap", Text: "the run before had not ended"}
	case c < 64:
		r.Status, r.Attempt, worker = common.StatusMissed, 0, -1
		r.Reason = &common.Reason{Code: "no_worker", Text: "no worker was there to run it"}
	}
	r.ID = common.RunID(r.Fire, r.Attempt)
	if worker < 0 {
		return r
	}
	r.Worker, r.WorkerName = workerID(worker), workerName(worker)
	claimed := planned.Add(time.Duration(1+chance>>50%9) * time.Millisecond)
	started := claimed.Add(3 * time.Millisecond)
	ended := started.Add(took)
	r.ClaimedAt, r.StartedAt, r.EndedAt = &claimed, &started, &ended
	r.OutputBytes, r.CPUSeconds, r.MaxRSSBytes = int64(chance>>12%5000), float64(chance>>14%1000)/1000,
		int64(4+chance>>16%60)<<20
	if exit >= 0 && r.Status != common.StatusLost {
		r.ExitCode = &exit
	}
	return r
}

// output returns the output of every twentieth run.
func (h *history) output(n int, r *common.Run) []common.Chunk {
	if n%20 != 0 || r.EndedAt == nil {
		return nil
	}
	data := make([]byte, 200+mix(uint64(n), 3)%1800)
	for i := range data {
		data[i] = "2026-11-01 12:00:00 the next part is done\n"[i%42]
	}
	return []common.Chunk{{Run: r.ID, Stream: common.Stdout, At: *r.EndedAt, Data: data}}
}
