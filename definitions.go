package carillon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/platform/config"
)

const (
	// defineEvery is how long the program waits before it applies its definitions again after a failure.
	defineEvery = time.Minute
	// defineLimit limits one request.
	defineLimit = 2 * time.Minute
)

// definitions applies the definitions of the jobs.
type definitions struct {
	app *App

	mu     sync.Mutex
	failed error     // guarded by mu: why the last attempt failed
	since  time.Time // guarded by mu
}

func newDefinitions(a *App) *definitions { return &definitions{app: a} }

// run applies the definitions until that succeeds, and then waits for the end of ctx.
func (d *definitions) run(ctx context.Context) error {
	if d.app.cfg.API.URL == "" {
		<-ctx.Done()
		return nil
	}
	for {
		err := d.apply(ctx)
		d.note(err)
		if err == nil {
			<-ctx.Done()
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		d.app.cfg.Log.Warn("definitions_not_applied", "error", err)
		if !etcdkit.Sleep(ctx, defineEvery) {
			return nil
		}
	}
}

func (d *definitions) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && d.failed == nil {
		d.since = time.Now().UTC()
	}
	d.failed = err
}

// conditions reports that the definitions are not applied.
func (d *definitions) conditions() []common.Condition {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		return nil
	}
	why := common.Excerpt(d.failed.Error())
	return []common.Condition{{
		Code: common.ConditionNotApplied,
		From: d.since,
		Text: fmt.Sprintf("the definitions of the jobs of app %s could not be applied: %s", d.app.cfg.App, why),
		Data: common.Words{"app": d.app.cfg.App, "error": why},
	}}
}

// apply sends all definitions, and deletes the jobs that this build no longer declares.
func (d *definitions) apply(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, defineLimit)
	defer cancel()
	secure, err := config.ClientTLS(d.app.cfg.API.TLS).Config()
	if err != nil {
		return err
	}
	api, err := apiclient.New(apiclient.Options{
		Server:    d.app.cfg.API.URL,
		Token:     d.app.cfg.API.Token,
		UserAgent: "carillon-sdk",
		TLS:       secure,
		Patience:  defineEvery,
	})
	if err != nil {
		return err
	}
	defer api.Client.Client.(*http.Client).CloseIdleConnections()
	jobs := make([]common.Job, 0, len(d.app.jobs))
	for _, name := range slices.Sorted(maps.Keys(d.app.jobs)) {
		jobs = append(jobs, d.app.jobs[name])
	}
	body, err := json.Marshal(map[string]any{"jobs": jobs})
	if err != nil {
		return err
	}
	query := apiclient.ApplyJobsParams{Program: new(true)}
	if d.app.cfg.Prune {
		query.Prune = new(common.LabelApp + "=" + d.app.cfg.App)
	}
	answer, err := apiclient.Decode[apiclient.ApplyAnswer](api.ApplyJobsWithBody(ctx,
		&query, "application/json", bytes.NewReader(body)))
	if err != nil {
		return err
	}
	var refused []error
	for _, item := range answer.Items {
		d.app.cfg.Log.Info("job_defined", "job", item.Name, "result", item.Result)
		if item.Refusal != nil {
			refused = append(refused, refusalOf(&item))
		}
	}
	return errors.Join(refused...)
}

// refusalOf returns the error of a job that was refused.
func refusalOf(item *apiclient.Applied) error {
	var text strings.Builder
	text.WriteString(item.Refusal.Detail)
	if item.Refusal.Errors != nil {
		for _, f := range *item.Refusal.Errors {
			text.WriteString("; " + f.Location[strings.LastIndex(f.Location, "]")+1:] + " " + f.Message)
		}
	}
	return fmt.Errorf("job %q: %s", item.Name, text.String())
}
