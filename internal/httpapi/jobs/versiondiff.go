package jobs

import (
	"context"
	"strconv"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/diff"
)

// VersionDiff is the difference of two versions of a job.
type VersionDiff struct {
	From   int64    `json:"from" doc:"The first version."`
	To     int64    `json:"to" doc:"The second version."`
	Fields []string `json:"fields" nullable:"false" doc:"The fields in which they differ."`
	Diff   string   `json:"diff" doc:"Unified diff, as for patch(1); empty if they are equal."`
}

type versionDiffInput struct {
	view.JobPath
	Version int64 `path:"version" minimum:"1" doc:"The first version."`
	To      int64 `query:"to" minimum:"1" doc:"The version to compare with. Default: the current job."`
}

func (s *Resource) diffVersions(ctx context.Context, in *versionDiffInput) (*core.Body[VersionDiff], error) {
	from, err := s.definition(ctx, in.JobPath, in.Version)
	if err != nil {
		return nil, err
	}
	var to *common.Job
	if in.To == 0 {
		state, err := s.Jobs.Get(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		if err := core.Allow(ctx, access.Viewer, state.Group); err != nil {
			return nil, err
		}
		if err := s.complete(ctx, &state.StoredJob); err != nil {
			return nil, err
		}
		in.To, to = state.Version, &state.Job
	} else if to, err = s.definition(ctx, in.JobPath, in.To); err != nil {
		return nil, err
	}
	out := &core.Body[VersionDiff]{Body: VersionDiff{From: in.Version, To: in.To, Fields: []string{}}}
	fields, err := diff.Fields(from, to)
	if err != nil {
		return nil, err
	}
	out.Body.Fields = append(out.Body.Fields, fields...)
	out.Body.Diff, err = diff.Unified(versionName(in.Name, in.Version, from), versionName(in.Name, in.To, to), from, to)
	return out, err
}

// versionName returns the header of one side of a unified diff.
func versionName(name string, version int64, job *common.Job) string {
	if job == nil {
		return "/dev/null"
	}
	return name + "@" + strconv.FormatInt(version, 10)
}

// definition returns the job of a version; nil for a deletion.
func (s *Resource) definition(ctx context.Context, path view.JobPath, version int64) (*common.Job, error) {
	found, err := s.version(ctx, &versionInput{JobPath: path, Version: version})
	if err != nil || found.Body.Job == nil {
		return nil, err
	}
	return found.Body.effective, nil
}
