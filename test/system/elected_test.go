package system

import (
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
)

// overview is what a master tells of the cluster, as far as it is looked at here.
type overview struct {
	Leader *struct {
		Name  string
		Since time.Time
	}
	Degraded []struct {
		Code string
		Data map[string]string
	}
}

func (a *api) overview() (o overview) {
	a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &o)
	return o
}

func (o overview) has(code string) bool {
	return slices.ContainsFunc(o.Degraded, func(c struct {
		Code string
		Data map[string]string
	}) bool {
		return c.Code == code
	})
}

// One of the masters is elected, another one when that one is killed; and what the elected one
// finds out, a job that no worker may run, all of them report.
func TestElection_MasterKilled_AnotherIsElected(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	masters := map[*api]*process{}
	add := func() *api {
		address := freePort(t)
		p := start(t, "carillon-master", c.flags("--listen", address)...)
		a := &api{t: t, base: "http://" + address}
		masters[a] = p
		return a
	}
	first := add()
	first.token = c.bootstrap()
	eventually(t, "the first is ready", first.ready)
	eventually(t, "it is elected", func() bool { return first.overview().Leader != nil })
	since := first.overview().Leader.Since
	second := add()
	second.token = first.token
	eventually(t, "the second is ready", second.ready)
	c.worker("east")
	second.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "runs",
		"cronExpr": "* * * * * * *",
		"command":  "true",
	}, nil)
	second.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":          "nowhere",
		"cronExpr":      "* * * * * * *",
		"command":       "true",
		"startDeadline": "1d",
		"placement":     map[string]any{"selector": "planet=mars"},
	}, nil)
	eventually(t, "the second knows who is elected", func() bool {
		o := second.overview()
		return o.Leader != nil && o.Leader.Since.Equal(since)
	})
	if code := masters[first].end(syscall.SIGKILL); code != -1 {
		t.Fatalf("it was killed, but ended with %d", code)
	}
	c.expire(common.LeaderKey)
	eventually(t, "the second is elected", func() bool {
		o := second.overview()
		return o.Leader != nil && o.Leader.Since.After(since)
	})
	eventually(t, "it finds the overdue job", func() bool { return second.overview().has("fires_overdue") })
	third := add()
	third.token = first.token
	eventually(t, "the third is ready", third.ready)
	eventually(t, "the third knows of the job", func() bool { return third.overview().has("fires_overdue") })
	for _, condition := range third.overview().Degraded {
		if condition.Code == "fires_overdue" &&
			(condition.Data["count"] != "1" || condition.Data["first"] != "nowhere") {
			t.Errorf("overdue are %v", condition.Data)
		}
	}
	var job struct {
		Meta struct {
			Overdue *struct {
				PlannedAt time.Time
				Reason    *struct{ Code string }
			}
		}
	}
	third.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/nowhere", nil, &job)
	if o := job.Meta.Overdue; o == nil || o.Reason == nil || o.Reason.Code != "no_worker" {
		t.Errorf("the job says %+v", o)
	}
	// A stop hands over at once.
	since = third.overview().Leader.Since
	if code := masters[second].end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the second stopped with %d", code)
	}
	eventually(t, "the third is elected", func() bool {
		o := third.overview()
		return o.Leader != nil && o.Leader.Since.After(since)
	})
}
