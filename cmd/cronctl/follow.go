package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	pollEvery = 300 * time.Millisecond
	pieceSize = 1 << 20
	// How long the output of a terminated run may take to reach the log store.
	patience = 15 * time.Second
)

// pause waits before the next request, longer if the refusal, if any, asks for it.
func pause(ctx context.Context, least time.Duration, refusal error) error {
	if e, ok := errors.AsType[*common.Error](refusal); ok {
		least = min(max(least, e.RetryAfter), away)
	}
	timer := time.NewTimer(least)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func fetchRun(ctx context.Context, api *apiclient.API, id string) (common.Run, error) {
	return apiclient.Decode[common.Run](api.GetRun(ctx, id))
}

// await waits for the end of the run. The server may be unavailable for up to a minute.
func await(ctx context.Context, api *apiclient.API, id string) (common.Run, error) {
	var broken time.Time
	for {
		run, err := fetchRun(ctx, api, id)
		switch code := common.CodeOf(err); {
		case err == nil && run.Status.Terminal():
			return run, nil
		case err == nil:
			broken = time.Time{}
		case code != common.CodeUnavailable && code != common.CodeTooMany || !broken.IsZero() &&
			time.Since(broken) > away:
			return run, err
		case broken.IsZero():
			broken = time.Now()
		}
		if err := pause(ctx, pollEvery, err); err != nil {
			return run, err
		}
	}
}

// printed reads the output of a run.
type printed struct {
	api    *apiclient.API
	run    string
	stream string
	offset int64
	done   bool // offset is the end of the output
	inLine bool // the last byte was not a newline
}

// lineEnd notes whether what is written to it ends with a newline.
type lineEnd printed

func (p *lineEnd) Write(text []byte) (int, error) {
	if len(text) > 0 {
		p.inLine = text[len(text)-1] != '\n'
	}
	return len(text), nil
}

// piece copies the output available after offset, and reports whether there was any.
func (p *printed) piece(ctx context.Context, w io.Writer) (bool, error) {
	size := int64(pieceSize)
	params := apiclient.GetOutputParams{
		Offset: &p.offset,
		Limit:  &size,
		Stream: set(apiclient.GetOutputParamsStream(p.stream)),
	}
	resp, err := p.api.GetOutput(ctx, p.run, &params)
	body, err := apiclient.Open(resp, err)
	if err != nil {
		return false, err
	}
	defer body.Close()
	if _, err := io.Copy(io.MultiWriter(w, (*lineEnd)(p)), body); err != nil {
		return false, &common.Error{Code: common.CodeUnavailable, Message: "the output was interrupted", Err: err}
	}
	next, err := strconv.ParseInt(resp.Header.Get("Carillon-Next-Offset"), 10, 64)
	if err != nil || next < p.offset {
		return false, common.Errorf(common.CodeUnavailable, "the server did not send the offset of the next output")
	}
	more := next > p.offset
	p.offset, p.done = next, resp.Header.Get("Carillon-Output-Complete") == "true"
	return more, nil
}

// all copies the output available now.
func (p *printed) all(ctx context.Context, w io.Writer) error {
	for {
		more, err := p.piece(ctx, w)
		if err != nil || !more || p.done {
			return err
		}
	}
}

// follow copies the output until the run has ended and all of it has arrived.
func (p *printed) follow(ctx context.Context, w io.Writer) error {
	err := p.live(ctx, w)
	if common.CodeOf(err) != common.CodeNotFound {
		return err
	}
	if _, gone := fetchRun(ctx, p.api, p.run); gone != nil {
		return gone
	}
	return p.poll(ctx, w) // an older server has no stream
}

// poll is follow by repeated requests.
func (p *printed) poll(ctx context.Context, w io.Writer) error {
	var ended time.Time
	for {
		more, err := p.piece(ctx, w)
		if err != nil || p.done {
			return err
		}
		if more {
			continue
		}
		if ended.IsZero() {
			run, err := fetchRun(ctx, p.api, p.run)
			if err != nil {
				return err
			}
			if run.Status.Terminal() {
				ended = time.Now()
				continue
			}
		} else if time.Since(ended) > patience {
			return incomplete()
		}
		if err := pause(ctx, pollEvery, nil); err != nil {
			return err
		}
	}
}

// nextAttempt returns the next attempt of the fire of a run that has not succeeded; nil if there is none.
func nextAttempt(ctx context.Context, api *apiclient.API, run *common.Run) *common.Run {
	if run.Status == common.StatusSucceeded || !run.Status.Terminal() || run.Attempt == 0 {
		return nil
	}
	size := int64(100)
	page, err := apiclient.Decode[struct {
		Items []common.Run `json:"items"`
	}](api.ListRuns(ctx, &apiclient.ListRunsParams{Fire: &run.Fire, Limit: &size}))
	if err != nil {
		return nil // it is a remark
	}
	for i := range page.Items {
		if page.Items[i].Attempt == run.Attempt+1 {
			return &page.Items[i]
		}
	}
	return nil
}

// latest returns the newest run of a job that has output.
func latest(ctx context.Context, api *apiclient.API, job string) (common.Run, error) {
	size := int64(20)
	if ofStep(job) { // all attempts of its last flow run, which have one planned time
		size = 100
	}
	page, err := apiclient.Decode[struct {
		Items []common.Run `json:"items"`
	}](api.ListRuns(ctx, &apiclient.ListRunsParams{Job: &job, Limit: &size}))
	if err != nil {
		return common.Run{}, err
	}
	for i, run := range page.Items {
		if run.Attempt == 0 {
			continue
		}
		for _, other := range page.Items[i+1:] {
			if ofStep(job) && other.Attempt > 0 && other.PlannedAt.Equal(run.PlannedAt) && byStart(&run, &other) < 0 {
				run = other
			}
		}
		return run, nil
	}
	if _, err := apiclient.Read(api.GetJob(ctx, job)); err != nil {
		return common.Run{}, err
	}
	return common.Run{}, hinted(common.CodeNotFound, "job "+job+" has not run yet", "run it with: cronctl run "+job)
}
