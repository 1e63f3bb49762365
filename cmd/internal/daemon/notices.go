package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/notify"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/notify/smtp"
	"carillon/internal/notify/webhook"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog"
)

// notices wires the notifications: the elected master sends them and detects failing channels; every master
// lists deliveries and tests channels.
type notices struct {
	*notifyetcd.Store
	notifier *notify.Notifier
	webhooks *webhook.Sender

	mu      sync.Mutex
	failing []string // failing channels; guarded by mu
}

// failingLook is the interval at which the elected master checks for failing channels.
const failingLook = 15 * time.Second

// told provides the notifier with the data of a master.
type told struct {
	jobs    jobSet
	catalog *catalog.Catalog
	history *runlog.View
	habits  *runlog.Habits
	overdue func(ctx context.Context) ([]common.Overdue, error)
	report  func(error) // receives the result of each check for late runs
}

func newNotices(cfg *MasterConfig, counted *metrics.Master, changed func(), from told) (*notices, error) {
	box, err := SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return nil, fmt.Errorf("secretsKey: %w", err)
	}
	n := &notices{Store: notifyetcd.New(cfg.Etcd, box, WallClock, changed)}
	n.webhooks = webhook.New(webhook.Config{Allow: cfg.Notify.Allow, Version: cfg.Version, Now: WallClock})
	senders := map[notify.Kind]notify.Sender{notify.KindWebhook: n.webhooks}
	if server := cfg.Notify.SMTP; server.Configured() {
		post, err := smtp.New(smtp.Config{
			Host:     server.Host,
			Port:     server.Port,
			Username: server.Username,
			Password: server.Password.Reveal(),
			From:     server.From,
			TLS:      server.TLS,
			Hello:    hostname(),
		})
		if err != nil {
			return nil, fmt.Errorf("smtpHost: %w", err)
		}
		senders[notify.KindMail] = post
	}
	n.notifier = notify.New(notify.Config{
		Store:     n.Store,
		Channels:  n.Store,
		Jobs:      from,
		History:   from,
		Senders:   senders,
		PublicURL: cfg.Notify.PublicURL,
		Now:       WallClock,
		Log:       cfg.Log,
		Metrics:   counted,
		Report:    from.report,
	})
	return n, nil
}

// Test sends a test notification to a channel. The request is recorded in the audit first.
func (n *notices) Test(ctx context.Context, actor common.Actor, name string) (notify.Notice, error) {
	if err := n.NoteTest(ctx, actor, name); err != nil {
		return notify.Notice{}, err
	}
	return n.notifier.Test(ctx, name, actor.Name)
}

// watch checks for failing channels while this master is elected. report receives the result of each check.
func (n *notices) watch(ctx context.Context, log *slog.Logger, report func(error)) error {
	defer n.found(nil)
	tick := time.NewTicker(failingLook)
	defer tick.Stop()
	for {
		failing, err := n.findFailing(ctx)
		report(err)
		if err == nil {
			n.found(failing)
		} else if ctx.Err() == nil {
			log.Warn("notices_unreadable", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// findFailing reads the waiting notifications and, if many failed, the sent ones as well.
func (n *notices) findFailing(ctx context.Context) ([]string, error) {
	waiting, err := n.Waiting(ctx)
	if err != nil || len(notify.Failing(waiting, WallClock())) == 0 {
		return nil, err
	}
	all, _, err := n.Notices(ctx, notify.NoticeQuery{})
	return notify.Failing(all, WallClock()), err
}

func (n *notices) found(failing []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failing = failing
}

// Conditions reports the failing channels.
func (n *notices) Conditions() []common.Condition {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.failing) == 0 {
		return nil
	}
	names := common.Excerpt(strings.Join(n.failing, ", "))
	return []common.Condition{{Code: common.ConditionNotifyFailing, Data: common.Words{"channels": names},
		Text: "channels do not accept notifications: " + names}}
}

// Told returns the jobs with notifications.
func (t told) Told() (jobs []common.JobState, known bool) { return t.catalog.Notifying() }

// AtLeast returns a job at a version or a later one: from etcd if the catalog has not received that version
// yet.
func (t told) AtLeast(ctx context.Context, name string, version int64) (common.JobState, bool, error) {
	if job, known := t.catalog.Job(name); known && job.Version >= version {
		return job, true, nil
	}
	job, err := t.jobs.Get(ctx, name)
	if common.CodeOf(err) == common.CodeNotFound {
		return common.JobState{}, false, nil
	}
	return job, err == nil, err
}

// Exists reports whether a run exists. While the log store is unavailable, etcd holds all runs that are not in
// it yet, including the attempt after an outcome that is in etcd.
func (t told) Exists(ctx context.Context, run string) (bool, error) {
	_, err := t.history.Run(ctx, run)
	switch common.CodeOf(err) {
	case common.CodeNotFound:
		return false, nil
	case common.CodeUnavailable:
		_, found, err := t.jobs.LiveRun(ctx, run)
		return found, err
	}
	return err == nil, err
}

const (
	// pageOfRuns is the number of runs of a job that are read together after a gap.
	pageOfRuns = 500
	// lookBack and lookBackMost limit how far before the gap runs are read: runs that ended in it may have been
	// planned long before.
	lookBack     = 24 * time.Hour
	lookBackMost = 1000
)

// Since returns a page of the runs of a job that may have ended since a time: first those planned before it,
// newest first, then those planned after it, oldest first.
func (t told) Since(ctx context.Context, job string, since time.Time, after notify.Mark) ([]common.Run,
	notify.Mark, error) {
	first := after == notify.Mark{}
	q := runlog.Query{Job: job, From: since, Oldest: true, Limit: pageOfRuns}
	switch {
	case first:
		q.From, q.To, q.Oldest, q.Limit = since.Add(-lookBack), since, false, lookBackMost
	case after.Run != "":
		q.Before = &runlog.Position{PlannedAt: after.PlannedAt, ID: after.Run}
	}
	page, err := t.history.Runs(ctx, q)
	switch {
	case err == nil && page.Partial:
		return nil, after, common.Errorf(common.CodeUnavailable, "the log store does not respond")
	case err != nil:
		return nil, after, err
	case first:
		return page.Runs, notify.Mark{PlannedAt: since}, nil
	case page.Until != nil:
		return page.Runs, notify.Mark{PlannedAt: page.Until.PlannedAt, Run: page.Until.ID}, nil
	case len(page.Runs) < pageOfRuns:
		return page.Runs, notify.Mark{}, nil
	}
	last := &page.Runs[len(page.Runs)-1]
	return page.Runs, notify.Mark{PlannedAt: last.PlannedAt, Run: last.ID}, nil
}

// Tail returns the end of a run's output.
func (t told) Tail(ctx context.Context, run string, printed int64, bytes int) (string, error) {
	chunks, err := t.history.Output(ctx, run, max(0, printed-int64(bytes)), common.MaxChunk)
	if err != nil {
		return "", err
	}
	var text []byte
	for _, c := range chunks {
		text = append(text, c.Data...)
	}
	if over := len(text) - bytes; over > 0 {
		text = text[over:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// Late returns the runs of the jobs that should have started or ended by now: runs that wait or run longer than
// usual, and fires that no worker has claimed.
func (t told) Late(ctx context.Context, jobs []common.JobState, now time.Time) (late []common.Run, err error) {
	wanted := make(map[string]*common.JobState, len(jobs))
	for i := range jobs {
		wanted[jobs[i].Name] = &jobs[i]
	}
	live, err := t.jobs.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	live = slices.DeleteFunc(live, func(r common.Run) bool { return r.Status.Terminal() || wanted[r.Job] == nil })
	names := make([]string, len(live))
	for i := range live {
		names[i] = live[i].Job
	}
	usual, err := t.habits.Of(ctx, names) // the remembered values while the log store is unavailable
	if err != nil && common.CodeOf(err) != common.CodeUnavailable {
		return nil, err
	}
	for i := range live {
		if e := usual[live[i].Job].Expectation; e.Late(&live[i], now) || e.Slow(&live[i], now) {
			late = append(late, live[i])
		}
	}
	overdue, err := t.overdue(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range overdue {
		if job := wanted[o.Job]; job != nil {
			late = append(late, common.Run{
				Job:        o.Job,
				JobUID:     job.UID,
				JobVersion: job.Version,
				Group:      job.Group,
				Fire: common.PlannedFire(job.UID,
					o.PlannedAt),
				PlannedAt: o.PlannedAt,
				DueAt:     &o.DueAt,
				Cause:     common.CauseCron,
				Status:    common.StatusWaiting,
				Reason:    o.Reason,
			})
		}
	}
	return late, nil
}
