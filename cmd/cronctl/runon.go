package main

import (
	"fmt"

	"carillon/internal/common"
)

// runsOn describes the workers of each fire of a job; empty for a job that runs on one.
func runsOn(r *common.RunOn) string {
	if r == nil {
		return ""
	}
	text := "all eligible workers"
	if r.Workers != common.AllWorkers {
		text = common.Count(int(r.Workers), "worker", "workers") + ", by rank"
	}
	if r.Concurrency > 0 {
		text += fmt.Sprintf(", %d at a time", r.Concurrency)
	}
	if r.MaxFailures > 0 {
		text += fmt.Sprintf("; %d may fail", r.MaxFailures)
	}
	if r.Stop {
		text += "; stops when it has failed"
	}
	return text
}

// effectOf returns what a worker of a rank would do in the next fire of such a job.
func effectOf(r *common.RunOn, rank int) string {
	switch {
	case r.Workers == common.AllWorkers || rank < int(r.Workers):
		return "would run it"
	case rank < 2*int(r.Workers):
		return "replaces one that does not start it"
	default:
		return "takes no part"
	}
}
