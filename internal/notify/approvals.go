package notify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"carillon/internal/common"
)

// Wait is an approval that waits for an operator: what is remembered of it.
type Wait struct {
	Key      string
	Job      string // the flow
	UID      string // its uid
	Notified []string

	Version int64 // the etcd revision of its last change
}

// followWaits notifies of the approvals that wait and of those that begin to, until the context ends.
func (n *Notifier) followWaits(ctx context.Context) error {
	err := n.cfg.Store.FollowWaits(ctx, func(ctx context.Context, whole bool, put []Wait, gone []string) error {
		n.keepWaits(whole, put, gone)
		keys := make([]string, len(put))
		for i := range put {
			keys[i] = put[i].Key
		}
		n.askAll(ctx, keys)
		return nil
	})
	return passing(ctx, err)
}

func (n *Notifier) keepWaits(whole bool, put []Wait, gone []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if whole {
		clear(n.waits)
	}
	for _, w := range put {
		n.waits[w.Key] = w
	}
	for _, key := range gone {
		delete(n.waits, key)
	}
}

// askAgain notifies of approvals for which there was no room before.
func (n *Notifier) askAgain(ctx context.Context) {
	n.mu.Lock()
	keys := slices.Sorted(maps.Keys(n.waits))
	n.mu.Unlock()
	n.askAll(ctx, keys)
}

func (n *Notifier) askAll(ctx context.Context, keys []string) {
	for _, key := range keys {
		if err := n.ask(ctx, key); err != nil { // askAgain repeats it
			n.trouble(ctx, "approvals_not_notified", err)
			return
		}
	}
}

// ask notifies the channels of a flow of an approval, each of them once. Channels without room, and all while too many
// events are notified, are left for later: an approval is not part of a summary, since an operator has to answer it.
func (n *Notifier) ask(ctx context.Context, key string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	w, waits := n.waits[key]
	if !waits {
		return nil
	}
	job, found, err := n.cfg.Jobs.AtLeast(ctx, w.Job, 0)
	if err != nil {
		return fmt.Errorf("read job %s: %w", w.Job, err)
	}
	if !found || job.UID != w.UID || !job.Notify.Wants(common.EventApproval) ||
		quietAt(&job, common.EventApproval, n.cfg.Now()) {
		return nil
	}
	var to []string
	for _, channel := range job.Notify.To {
		if !slices.Contains(w.Notified, channel) && !slices.Contains(to, channel) && n.backlog.room(channel) {
			to = append(to, channel)
		}
	}
	spent, now := n.budget, n.cfg.Now().UTC()
	if len(to) == 0 || !n.budget.take(now) {
		return nil
	}
	var notices []Notice
	w.Notified = append(slices.Clone(w.Notified), to...)
	written, ok, err := n.cfg.Store.Ask(ctx, w, func(wait *common.FlowWait) []Notice {
		notices = n.questions(&job, wait, to)
		return notices
	})
	if err != nil || !ok { // a change arrives with its own notification
		n.budget = spent
		return err
	}
	n.waits[key] = written
	n.backlog.add(notices)
	n.wakeSender()
	n.cfg.Log.Info("notification_created", "job", job.Name, "event", common.EventApproval, "run", notices[0].Data.Run,
		"channels", to)
	return nil
}

// questions returns one notification of an approval per channel.
func (n *Notifier) questions(job *common.JobState, wait *common.FlowWait, to []string) []Notice {
	data := Data{
		Event:     SubjectApproval,
		Job:       wait.Flow.Job,
		Group:     wait.Group,
		Title:     job.Title,
		Fire:      wait.Fire,
		Run:       wait.Flow.Run,
		Status:    common.StatusWaiting,
		Cause:     common.CauseFlow,
		PlannedAt: new(wait.PlannedAt.UTC()),
		Step:      wait.Flow.Node,
		Text:      cut(wait.Text, maxText),
		Since:     new(wait.Since.UTC()),
		Deadline:  wait.Deadline,
	}
	data.URL = n.link(&data)
	now := n.cfg.Now().UTC()
	all := make([]Notice, len(to))
	for i, channel := range to {
		all[i] = Notice{
			ID:        noticeID(wait.Since.UTC(), job.UID, wait.Fire, string(SubjectApproval), channel),
			Channel:   channel,
			Subject:   SubjectApproval,
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now,
			Data:      data,
		}
	}
	return all
}
