package system

import (
	"context"
	"time"

	"carillon/internal/httpapi/core"
)

// Masters reads masters.
type Masters interface {
	// Masters lists the masters that this one knows to be alive.
	Masters(ctx context.Context) ([]Master, error)
}

// Master is a master that is alive.
type Master struct {
	ID         string     `json:"id" doc:"Id of the process; a new one at each start."`
	Host       string     `json:"host"`
	Address    string     `json:"address,omitempty" doc:"Listening address; absent for an older version." example:"10.0.0.7:7070"`
	Version    string     `json:"version"`
	StartedAt  time.Time  `json:"startedAt,omitzero" doc:"Absent for an older version."`
	Clock      time.Time  `json:"clock" doc:"Its wall clock at its last write."`
	SkewMs     int64      `json:"skewMs" doc:"How many milliseconds its clock is ahead of the cluster's, by its own measurement."`
	LeadsSince *time.Time `json:"leadsSince,omitempty" doc:"When it was elected, by its own clock; absent for the others."`
	Answers    bool       `json:"answers,omitempty" doc:"The master that sent this response."`
}

func (s *Resource) masters(ctx context.Context, _ *struct{}) (*core.Body[core.Page[Master]], error) {
	found, err := s.Masters.Masters(ctx)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(found, ""))
}
