package calendar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// Bounds of a calendar. The days that maxRuns do not reach are counted from roll-ups.
const (
	maxDays   = 366
	maxRuns   = 5000
	usualDays = 92
)

// Calendar is the outcomes of the fires of a job by day.
type Calendar struct {
	Timezone string `json:"timezone" doc:"Time zone of the days: that of the schedule, and of several schedules that of the first one."`
	Days     []Day  `json:"days" nullable:"false" doc:"Oldest first, including days without fires."`
}

// Day is the fires of a day.
type Day struct {
	Date       string               `json:"date" doc:"Date in the time zone." example:"2026-03-29"`
	From       time.Time            `json:"from" doc:"Begin of the day."`
	To         time.Time            `json:"to" doc:"End of the day, exclusive: 23 to 25 hours later."`
	Planned    int64                `json:"planned" doc:"Fires of the current schedule, also those in the future. 0 for an @every without a start."`
	Unrecorded int64                `json:"unrecorded" doc:"Past fires of the current schedule without an entry in the ledger: from before the job existed, or deleted with its history."`
	Statuses   view.StatusCounts    `json:"statuses" doc:"Fires by the outcome of their last attempt. An entry for several fires counts on their days."`
	Waiting    int64                `json:"waiting" doc:"Fires that wait for a worker."`
	Running    int64                `json:"running"`
	Backfill   int64                `json:"backfill" doc:"Fires that a backfill has yet to start. They also count by their last outcome."`
	Chosen     *view.BackfillCounts `json:"chosen,omitempty" doc:"Fires of the backfill that the request names, by their outcomes in it; absent on days without any."`
	Summarized bool                 `json:"summarized,omitempty" doc:"Counted from statistics, which may be some minutes old: the runs are deleted, or too many to be read. More than 90 days ago such a day is one of UTC."`
}

// Jobs reads jobs and their backfills. Errors are *common.Error.
type Jobs interface {
	view.Jobs
	// Backfills returns those of a job that have not ended.
	Backfills(ctx context.Context, job string) ([]common.Backfill, error)
}

// Runs reads the history, with what etcd holds.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
}

// Resource serves calendars.
type Resource struct {
	Jobs     Jobs
	Runs     Runs
	Counted  runlog.Statistics
	Interner *schedule.Interner
	Zone     string // of jobs without a schedule
	Now      func() time.Time
}

type input struct {
	view.JobPath
	From string `query:"from" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The first date, in the time zone of the job, at most 366 days before the end. Default: 92 days before the end."`
	To   string `query:"to" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The end of the dates, exclusive. Default: tomorrow."`

	Backfill string `query:"backfill" maxLength:"128" doc:"Id of a backfill of the job, also of one that has ended: 'chosen' of each day counts its fires."`
}

// Register registers the route.
func (s *Resource) Register(r *core.Router) {
	get := core.NewOperations("fires", "/api/v1").Get("get-job-calendar", "/jobs/{name}/calendar",
		"Count the fires of a job by day", core.Viewer)
	get.Queue = core.NewQueue()
	core.Register(r, get, s.get)
}

func (s *Resource) get(ctx context.Context, in *input) (*core.Body[Calendar], error) {
	job, err := s.Jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	timetable, err := s.Interner.OfJob(&job.Job)
	if err != nil {
		return nil, common.Errorf(common.CodeInternal, "the schedule of job %q cannot be read", job.Name).
			WithCause(err)
	}
	name := cmp.Or(timetable.Zone(), s.Zone)
	zone, err := schedule.LoadZone(name)
	if err != nil {
		return nil, common.Errorf(common.CodeInternal, "the time zone of job %q cannot be read", job.Name).
			WithCause(err)
	}
	now := s.Now()
	from, to, err := dates(in, now.In(zone))
	if err != nil {
		return nil, err
	}
	// Noon is in each day, also where clocks change at midnight.
	starts := runlog.NewChart(noon(from, zone), noon(to, zone).Add(1), now, true, zone).Starts
	c := newCount(slices.CompactFunc(starts, time.Time.Equal), timetable)
	if err := c.plan(job.Cursor); err != nil {
		return nil, notComputed(job.Name, err)
	}
	// Backfills are read first: a fire that one starts in between is then found among the runs.
	live, err := s.Jobs.Backfills(ctx, job.Name)
	if err != nil {
		return nil, err
	}
	if err := s.runs(ctx, job.Name, now, c); err != nil {
		return nil, err
	}
	if err := s.summarize(ctx, job.Name, now, c); err != nil {
		return nil, err
	}
	for i := range live {
		c.backfill(&live[i])
	}
	if in.Backfill != "" {
		chosen, err := s.chosen(ctx, job.Name, in.Backfill, live)
		if err != nil {
			return nil, err
		}
		c.choose(chosen)
	}
	days, err := c.finish()
	if err != nil {
		return nil, notComputed(job.Name, err)
	}
	return core.Reply(Calendar{Timezone: zone.String(), Days: days})
}

func notComputed(job string, err error) error {
	return common.Errorf(common.CodeInternal, "the schedule of job %q cannot be computed", job).WithCause(err)
}

// dates returns the days of UTC that have the dates of a request, or what is wrong; now is in the time zone of the job.
func dates(in *input, now time.Time) (from, to time.Time, err error) {
	to = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	for _, at := range []struct {
		name, text string
		into       *time.Time
	}{{"to", in.To, &to}, {"from", in.From, &from}} {
		if at.text == "" {
			continue
		}
		if *at.into, err = time.Parse(time.DateOnly, at.text); err != nil {
			return from, to, core.BadParameter("query."+at.name, "invalid", "is not a date", at.text)
		}
		if err := core.CheckTime(at.name, *at.into); err != nil {
			return from, to, err
		}
	}
	if in.From == "" {
		from = to.AddDate(0, 0, -usualDays)
	}
	if err := core.CheckOrder(from, to); err != nil {
		return from, to, err
	}
	if from.Before(to.AddDate(0, 0, -maxDays)) {
		return from, to, core.BadParameter("query.from", "range",
			fmt.Sprintf("must be at most %d days before the end", maxDays), in.From)
	}
	return from, to, nil
}

func noon(date time.Time, zone *time.Location) time.Time {
	return time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, zone)
}

// chosen returns the fires of a backfill of a job.
func (s *Resource) chosen(ctx context.Context, job, id string, live []common.Backfill) ([]common.BackfillFire, error) {
	for i := range live {
		if live[i].Run == id {
			return live[i].Items, core.Allow(ctx, access.Viewer, live[i].Group)
		}
	}
	run, err := s.Runs.Run(ctx, id)
	if err == nil && run.Job != common.BackfillJob(job) {
		err = common.Errorf(common.CodeNotFound, "job %q has no backfill %q", job, common.Shorten(id))
	}
	if err == nil {
		err = core.Allow(ctx, access.Viewer, run.Group)
	}
	if err != nil {
		return nil, err
	}
	return run.EndedFires()
}

// readPage is the number of runs that are read at once, and readAhead how many are searched for an entry that begins
// before the end of the calendar.
const (
	readPage  = 1000
	readAhead = 100
)

// runs counts the newest runs of the days.
func (s *Resource) runs(ctx context.Context, job string, now time.Time, c *count) error {
	q := runlog.Query{Job: job, From: c.end(), Oldest: true, Limit: readAhead}
	if c.end().Before(now) {
		after, err := s.page(ctx, q)
		if err != nil {
			return err
		}
		for i := range after.Runs {
			if gap := after.Runs[i].Gap; gap != nil && gap.From.Before(c.end()) {
				c.add(&after.Runs[i])
			}
		}
	}
	q = runlog.Query{Job: job, From: c.starts[0], To: c.end(), Limit: readPage}
	for read := 0; ; {
		page, err := s.page(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			c.add(&page.Runs[i])
		}
		read += len(page.Runs)
		switch {
		case page.Until != nil:
			q.Before = page.Until
		case len(page.Runs) < readPage:
			c.readTo(nil)
			return nil
		default:
			last := runlog.PositionOf(&page.Runs[len(page.Runs)-1])
			q.Before = &last
		}
		if read >= maxRuns {
			c.readTo(&q.Before.PlannedAt)
			return nil
		}
	}
}

// page reads runs, which must not be a part of the history.
func (s *Resource) page(ctx context.Context, q runlog.Query) (runlog.RunPage, error) {
	page, err := s.Runs.Runs(ctx, q)
	if err == nil && page.Partial {
		err = common.Errorf(common.CodeUnavailable, "the log store is away").WithReason("log_store_away").
			WithHint("retry when it responds")
	}
	return page, err
}

// summarize counts the days of which the runs were not read from roll-ups.
func (s *Resource) summarize(ctx context.Context, job string, now time.Time, c *count) error {
	if c.seam == 0 {
		return nil
	}
	chart := runlog.NewChart(c.starts[0], c.starts[c.seam], now, true, c.starts[0].Location())
	cells, total := make([]rollup.Cell, len(chart.Starts)), rollup.Cell{}
	for _, q := range chart.Queries(job) {
		rows, err := s.Counted.Rollups(ctx, q)
		if err != nil {
			return err
		}
		chart.Fill(q.Days, rows, cells, &total)
	}
	for i := range cells {
		c.summary(chart.Starts[i], cells[i].Fires())
	}
	return nil
}
