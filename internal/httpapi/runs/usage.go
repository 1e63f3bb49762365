package runs

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// RunUsage is the use of processor, memory and storage by the processes of a run.
type RunUsage struct {
	Run        string               `json:"run" doc:"Id of the run."`
	Source     string               `json:"source,omitempty" enum:"cgroup,proc" doc:"Where the CPU time was measured: in the run's control group, or as the sum of its processes. Absent without samples."`
	IntervalMs int64                `json:"intervalMs,omitempty" doc:"Shortest time between samples, in milliseconds, apart from the newest 60, which are closer. It grows with the age of the run. Absent without samples."`
	Live       bool                 `json:"live" doc:"The run has not ended: samples may follow."`
	Samples    []common.UsageSample `json:"samples" nullable:"false" doc:"Oldest first, at most 240. Empty if the run was too short to be sampled, has no processes of its own, or was run by a worker of an older version."`
}

func (s *Resource) usage(ctx context.Context, in *view.RunPath) (*core.Body[RunUsage], error) {
	run, err := s.Runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := view.AllowRun(ctx, s.Jobs, access.Viewer, &run); err != nil {
		return nil, err
	}
	found, err := s.Samples.Usage(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := RunUsage{Run: run.ID, Live: !run.Status.Terminal(), Samples: []common.UsageSample{}}
	if len(found.Samples) > 0 {
		out.Source, out.IntervalMs, out.Samples = found.Source, found.Interval.Milliseconds(), found.Samples
	}
	return core.Reply(out)
}
