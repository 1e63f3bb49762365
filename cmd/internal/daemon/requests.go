package daemon

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/httprun"
	"carillon/internal/executor/httprun/request"
)

// requests runs the executor's jobs of the type http.
type requests struct{ client *httprun.Client }

func (r requests) Run(ctx context.Context, c executor.Call, print func(common.Stream, []byte)) executor.Result {
	return executor.Result(r.client.Run(ctx, httprun.Task{
		With: c.Job.With,
		Values: request.Values{
			Named:   c.Values,
			Secrets: c.Secrets,
			Private: c.Job.NamesSecret,
		},
		Outputs: c.Job.Outputs,
		Key:     c.Key,
		Fence:   c.Fence,
	}, print))
}

func (requests) Masks(secret []byte) [][]byte { return request.Forms(secret) }
