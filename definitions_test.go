package carillon_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon"
	"carillon/internal/common"
)

// request is what a master has received.
type request struct {
	path, query, token string
	jobs               []common.Job
}

// master answers each request with a status, and reports it.
func master(t *testing.T, status int) (url string, received <-chan request) {
	requests := make(chan request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Jobs []common.Job }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		requests <- request{r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), body.Jobs}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"items":[],"counts":{}}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestRun_AppliesTheDefinitions(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	url, received := master(t, http.StatusOK)
	app := c.open(func(cfg *carillon.Config) {
		cfg.API = carillon.API{URL: url, Token: "the-token"}
		cfg.Build, cfg.Group, cfg.Prune = "7", "finance", true
	})
	fn := func(context.Context) error { return nil }
	app.Func("invoices", "0 6 * * *", fn, carillon.Retry(3, time.Minute), carillon.Labels(map[string]string{"x": "y"}))
	app.Func("reminders", "", fn, carillon.After("billing.invoices"), carillon.Group("mail"))
	app.Handle("close", fn)
	app.Define(carillon.Job{Name: "billing.month", CronExpr: "@monthly",
		Steps: []carillon.Step{{Name: "close", Func: "close"}}})
	c.start(app)
	r := receive(c, received)
	if r.path != "/api/v1/jobs/apply" || r.query != "program=true&prune=app%3Dbilling" ||
		r.token != "Bearer the-token" {
		t.Errorf("%+v", r)
	}
	by := map[string]common.Job{}
	for _, job := range r.jobs {
		by[job.Name] = job
		if job.Labels["app"] != "billing" || job.Labels["app-build"] != "7" {
			t.Errorf("%s has the labels %v", job.Name, job.Labels)
		}
	}
	invoices, flow := by["billing.invoices"], by["billing.month"]
	if len(by) != 3 || invoices.Type != "func" || common.FunctionOf(invoices.With).Name != "invoices" ||
		invoices.Group != "finance" || invoices.Retry.Max != 3 || invoices.Labels["x"] != "y" ||
		by["billing.reminders"].Group != "mail" || by["billing.reminders"].After[0] != "billing.invoices" ||
		flow.Group != "finance" || common.FunctionOf(flow.Steps[0].With).Name != "close" {
		t.Errorf("%+v", by)
	}
}

// A program runs the jobs that are defined even if its own definitions are refused, and says so.
func TestRun_DefinitionsRefused_IsACondition(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	url, received := master(t, http.StatusForbidden)
	app := c.open(func(cfg *carillon.Config) { cfg.API.URL = url })
	app.Func("invoices", "", func(context.Context) error { return nil })
	c.start(app)
	receive(c, received)
	for {
		resp, err := c.etcd.Get(t.Context(), common.WorkersPrefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			registration, err := common.Decode[common.Registration](kv.Value)
			if err != nil || !registration.Only {
				t.Fatalf("%+v, %v", registration, err)
			}
			for _, condition := range registration.Conditions {
				if condition.Code == common.ConditionNotApplied {
					return
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}
