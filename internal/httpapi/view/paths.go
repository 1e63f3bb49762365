package view

import (
	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// JobPath names a job. (Exported, because huma ignores unexported embedded types.)
type JobPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job."`
}

// SeriesPath names a job, an inline step of a flow, or the backfills of a job.
type SeriesPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?(:[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?|@backfill)?$" doc:"Name of the job, FLOW:STEP for an inline step, or JOB@backfill for the backfills of a job."`
}

// RunPath names a run.
type RunPath struct {
	ID string `path:"id" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Id of the run."`
}

// FireID is the id of a fire, or of one of its runs, in the body of a request. It is never empty.
type FireID string

// Schema returns a pattern that the empty text does not match.
func (FireID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: common.FirePattern}
}
