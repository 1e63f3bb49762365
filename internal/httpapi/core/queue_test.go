package core_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/schedules"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/platform/virtualtime"
)

// The limits of a queue for one caller.
const (
	ofOne       = 2
	inLineOfOne = 8
	waitAtMost  = 15 * time.Second
)

// held keeps what is applied until it is let go.
type held struct {
	httpapi.Jobs
	mu    sync.Mutex
	going map[string]int // guarded by mu; by who asks
	free  chan struct{}
}

func (h *held) Apply(_ context.Context, who common.Actor, job common.Job, _ common.Precondition,
	_ bool) (common.Saved, error) {
	h.mu.Lock()
	h.going[who.Name]++
	h.mu.Unlock()
	<-h.free
	return common.Saved{
		Effect: common.EffectCreated,
		State:  common.JobState{StoredJob: common.StoredJob{Job: job}},
	}, nil
}

func (h *held) count(who string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.going[who]
}

// unread is a body that notes that it is read.
type unread struct {
	io.Reader
	reads chan<- struct{}
	once  sync.Once
}

func (u *unread) Read(p []byte) (int, error) {
	u.once.Do(func() { u.reads <- struct{}{} })
	return u.Reader.Read(p)
}

// However many applies one sends at once, few of their bodies are in memory, few wait, and the rest
// is refused unread; others still have a turn, and there are other turns for what is done in bulk.
func TestApply_ConcurrentRequests_AreLimited(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		jobs := &held{going: map[string]int{}, free: make(chan struct{})}
		h := apitest.NewHarness(t, func(c *httpapi.Config) { jobs.Jobs, c.Jobs = c.Jobs, jobs })
		const many = 60
		reads, answers := make(chan struct{}, 2*many), make(chan *httptest.ResponseRecorder, 2*many)
		apply := func(role string) {
			r := apitest.As(role, http.MethodPost, "/api/v1/jobs/apply", `{"jobs":[]}`)
			r.Body = io.NopCloser(&unread{
				Reader: strings.NewReader(`{"jobs":[{"name":"a","command":"true"}]}`),
				reads:  reads,
			})
			go func() { answers <- h.Send(r) }()
		}
		for range many {
			apply("editor")
		}
		virtualtime.Wait()
		if len(reads) != ofOne || jobs.count("the editor") != ofOne {
			t.Errorf("%d bodies of one who asks were read, and %d go on", len(reads), jobs.count("the editor"))
		}
		if len(answers) != many-inLineOfOne {
			t.Errorf("%d of %d were refused at once", len(answers), many)
		}
		for len(answers) > 0 {
			if w := <-answers; w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "5" {
				t.Errorf("%d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
			}
		}
		apply("admin")
		virtualtime.Wait()
		if jobs.count("the admin") != 1 {
			t.Error("another one waits behind all that one has sent")
		}
		h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, "/api/v1/jobs/bulk",
			`{"action":"kill","jobs":["none"]}`))
		h.Want(http.StatusOK, apitest.As("editor", http.MethodPost, "/api/v1/jobs/bulk",
			`{"action":"resume","jobs":["none"]}`))

		time.Sleep(waitAtMost) // requests wait for a limited time
		virtualtime.Wait()
		if len(answers) != inLineOfOne-ofOne || len(reads) != ofOne+1 {
			t.Errorf("%d of those that waited were refused, %d were read", len(answers), len(reads))
		}
		close(jobs.free)
		virtualtime.Wait()
		ok := 0
		for len(answers) > 0 {
			if w := <-answers; w.Code == http.StatusOK {
				ok++
			}
		}
		if ok != ofOne+1 {
			t.Errorf("%d were done", ok)
		}
		// all turns were given back
		h.Want(http.StatusOK, apitest.As("editor", http.MethodPost, "/api/v1/jobs/apply", `{"jobs":[]}`))
	})
}

// slow keeps forecasts, and looks at the jobs of crontabs, until it is let go.
type slow struct {
	schedules.Ahead
	httpapi.Jobs
	going atomic.Int32
	free  chan struct{}
}

func (s *slow) Forecast(context.Context, common.JobQuery, time.Time, time.Time, int) (*forecast.Forecast, int,
	error) {
	s.going.Add(1)
	<-s.free
	return &forecast.Forecast{Minutes: []int{}, Peaks: []int{}}, 0, nil
}

func (s *slow) Validate(_ context.Context, job common.Job) (common.StoredJob, []common.Fault, error) {
	s.going.Add(1)
	<-s.free
	return common.StoredJob{Job: job}, nil, nil
}

// One who asks for many of what takes a processor for long leaves turns for others.
func TestExpensiveRequests_AreLimitedPerCaller(t *testing.T) {
	for what, ask := range map[string]func(role string) *http.Request{
		"a forecast": func(role string) *http.Request {
			return apitest.As(role, http.MethodGet, "/api/v1/forecast", "")
		},
		"a crontab": func(role string) *http.Request {
			return apitest.As(role, http.MethodPost, "/api/v1/crontab/parse", `{"text":"* * * * * date"}`)
		},
	} {
		virtualtime.Test(t, func(t *testing.T) {
			work := &slow{free: make(chan struct{})}
			h := apitest.NewHarness(t, func(c *httpapi.Config) { work.Jobs, c.Jobs, c.Ahead = c.Jobs, work, work })
			const many = 20
			answers := make(chan int, many+1)
			send := func(role string) { go func() { answers <- h.Send(ask(role)).Code }() }
			for range many {
				send("viewer")
			}
			virtualtime.Wait()
			if going := work.going.Load(); going != ofOne || len(answers) != many-inLineOfOne {
				t.Errorf("%s: %d go on, %d were refused", what, going, len(answers))
			}
			send("editor")
			virtualtime.Wait()
			if going := work.going.Load(); going != ofOne+1 {
				t.Errorf("%s of another one waits behind all that one has asked for: %d go on", what, going)
			}
			close(work.free)
			virtualtime.Wait()
			told := map[int]int{}
			for len(answers) > 0 {
				told[<-answers]++
			}
			if told[http.StatusOK] != inLineOfOne+1 || told[http.StatusTooManyRequests] != many-inLineOfOne {
				t.Errorf("%s: %v", what, told)
			}
		})
	}
}

// patient notes until when it may be written.
type patient struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (p *patient) SetWriteDeadline(at time.Time) error {
	p.until = at
	return nil
}

// A request about many jobs is answered with the result of each, however long it took.
func TestRequestsAboutManyJobs_HaveALongerDeadline(t *testing.T) {
	h := apitest.NewHarness(t)
	for path, body := range map[string]string{
		"/api/v1/jobs/apply": `{"jobs":[{"name":"a","command":"true"}]}`,
		"/api/v1/jobs/bulk":  `{"action":"pause","jobs":["a"],"note":"n"}`,
	} {
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		began := time.Now()
		h.Handler.ServeHTTP(w, apitest.As("admin", "POST", path, body))
		if w.Code != http.StatusOK || w.until.Before(began.Add(core.ManyPatience)) {
			t.Errorf("%s: %d, may be written for %v", path, w.Code, w.until.Sub(began))
		}
	}
}
