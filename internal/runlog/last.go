package runlog

import (
	"context"

	"carillon/internal/common"
)

// Last returns the n newest runs of each of the jobs, by name, including pending and active ones. While the
// store is unavailable it returns only those in etcd, and partial is set.
func (v *View) Last(ctx context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error) {
	runs, err := v.live.LiveRuns(ctx, &LiveQuery{Jobs: jobs, Each: n})
	if err != nil {
		return nil, false, err
	}
	last, err = v.store.Last(ctx, jobs, n)
	partial = isAway(ctx, err)
	if err != nil && !partial {
		return nil, false, err
	}
	if last == nil {
		last = map[string][]common.Run{}
	}
	live := map[string][]common.Run{}
	for i := range runs.Runs {
		run := &runs.Runs[i]
		live[run.Job] = append(live[run.Job], *run)
	}
	for _, job := range jobs {
		if of := live[job]; len(of) > 0 {
			last[job] = mergeRuns(of, Found{Runs: last[job]}, &Query{Job: job, Limit: n})
		}
	}
	return last, partial || runs.Partial, nil
}
