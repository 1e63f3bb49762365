package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// Limits of sending.
const (
	atOnce   = 16
	nextLook = 15 * time.Second // reread of notifications written by other masters
)

// tried is the result of a try, for send.
type tried struct {
	notice  Notice
	settled bool          // notice is the stored value; otherwise it is read again
	rest    time.Duration // pause of the channel
}

// sending is the state of send.
type sending struct {
	waiting []Notice             // ordered by id
	busy    map[string]bool      // channels with a try in progress
	rests   map[string]time.Time // end of each channel's pause
}

// next returns the notifications to try now, and when to check again if nothing changes.
func (s *sending) next(now time.Time) (due []Notice, wake time.Time) {
	wake = now.Add(nextLook)
	for i := range s.waiting {
		w := &s.waiting[i]
		at := w.NextAt
		if until := s.rests[w.Channel]; until.After(at) {
			at = until
		}
		switch {
		case at.After(now):
			if at.Before(wake) {
				wake = at
			}
		case !s.busy[w.Channel] && len(s.busy) < atOnce:
			s.busy[w.Channel] = true
			due = append(due, *w)
		}
	}
	return due, wake
}

// done records the result of a try.
func (s *sending) done(t *tried, now time.Time) {
	delete(s.busy, t.notice.Channel)
	delete(s.rests, t.notice.Channel)
	if t.rest > 0 {
		s.rests[t.notice.Channel] = now.Add(t.rest)
	}
	i, found := slices.BinarySearchFunc(s.waiting, t.notice.ID, func(w Notice, id string) int {
		return cmp.Compare(w.ID, id)
	})
	switch {
	case !found:
	case t.settled && t.notice.Status == Waiting:
		s.waiting[i] = t.notice
	default:
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// send delivers pending notifications until the context ends. Each channel has at most one try in
// progress; a failing channel pauses, with all its pending notifications.
func (n *Notifier) send(ctx context.Context) error {
	back := make(chan tried)
	s := sending{busy: map[string]bool{}, rests: map[string]time.Time{}}
	var out sync.WaitGroup
	defer out.Wait()
	defer n.cfg.Metrics.NoticesWaiting(0)
	var read time.Time
	for {
		now := n.cfg.Now()
		if now.Sub(read).Abs() >= nextLook {
			waiting, err := n.cfg.Store.Waiting(ctx)
			if err != nil {
				n.trouble(ctx, "notifications_unreadable", err)
				if !sleep(ctx, retryFollow) {
					return nil
				}
				continue
			}
			s.waiting, read = n.sendable(waiting, now), now
		}
		n.setBacklog(s.waiting)
		due, wake := s.next(now)
		for _, w := range due {
			out.Go(func() {
				result := n.attempt(ctx, w)
				select {
				case back <- result:
				case <-ctx.Done():
				}
			})
		}
		if again := read.Add(nextLook); again.Before(wake) {
			wake = again
		}
		timer := time.NewTimer(max(wake.Sub(now), 10*time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-n.wake:
			read = time.Time{}
		case t := <-back:
			s.done(&t, n.cfg.Now())
		}
		timer.Stop()
	}
}

// sendable makes the notifications due that another master could not send for lack of a sender, such as an older one
// that did not know the kind of the channel, unless a try may be in progress.
func (n *Notifier) sendable(waiting []Notice, now time.Time) []Notice {
	for i := range waiting {
		w := &waiting[i]
		if w.Code == CodeKind && n.cfg.Senders[w.Kind] != nil && w.NextAt.Sub(now) > claimFor {
			w.NextAt = now
		}
	}
	return waiting
}

func (n *Notifier) setBacklog(waiting []Notice) {
	n.cfg.Metrics.NoticesWaiting(len(waiting))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.backlog = backlogOf(waiting)
}

// failingFor is how long tries must have failed before a channel counts as failing.
const failingFor = 30 * time.Second

// Failing returns, by name, the channels with a notification that has failed for at least
// failingFor and without a successful delivery since its first try. notices are the pending and the
// completed ones.
func Failing(notices []Notice, now time.Time) (channels []string) {
	took := map[string]time.Time{} // last successful delivery
	for i := range notices {
		if w := &notices[i]; w.Status == Sent && w.DoneAt.After(took[w.Channel]) {
			took[w.Channel] = w.DoneAt
		}
	}
	for i := range notices {
		w := &notices[i]
		if w.Status == Waiting && w.Attempts > 0 && now.Sub(w.TriedAt) >= failingFor &&
			w.TriedAt.After(took[w.Channel]) && !slices.Contains(channels, w.Channel) {
			channels = append(channels, w.Channel)
		}
	}
	slices.Sort(channels)
	return channels
}

// attempt tries a notification once. It claims it first, so that no other master tries it at the
// same time, and a master that dies with it is noticed.
func (n *Notifier) attempt(ctx context.Context, w Notice) tried {
	channel, target, err := n.cfg.Channels.Channel(ctx, w.Channel)
	if err != nil && !errors.Is(err, ErrSealed) {
		n.trouble(ctx, "channel_unreadable", fmt.Errorf("channel %s: %w", w.Channel, err))
		return tried{notice: w, settled: true, rest: retryFollow}
	}
	now := n.cfg.Now().UTC()
	w.Kind = channel.Kind
	message := messageOf(&w)
	if !n.tail(ctx, channel.Kind, &message) && ctx.Err() == nil {
		wait, look := settleFor, firstTry
		if w.Subject == SubjectOutput {
			wait, look = outputWait, outputLook
		}
		if now = n.cfg.Now().UTC(); now.Sub(w.since()) < wait {
			w.NextAt = now.Add(look)
			return n.put(ctx, w, 0)
		}
	}
	w.Attempts++
	if w.TriedAt.IsZero() {
		w.TriedAt = now
	}
	w.NextAt = now.Add(claimFor)
	w, ok, err := n.cfg.Store.Put(ctx, w)
	if err != nil || !ok {
		n.trouble(ctx, "notification_not_claimed", err)
		return tried{notice: w, rest: retryFollow}
	}
	sender := n.cfg.Senders[channel.Kind]
	var result Result
	code := CodeTrouble
	switch {
	case channel.Version == 0:
		code, result = CodeUnknown, Result{Final: true, Err: fmt.Errorf("channel %q not found", w.Channel)}
	case channel.Disabled:
		code, result = CodeDisabled, Result{Final: true, Err: fmt.Errorf("channel %s is disabled", w.Channel)}
	case channel.Sealed != "" && target.URL == "":
		code, result = CodeSealed, Result{Err: ErrSealed}
	case sender == nil:
		code, result = CodeKind, Result{Err: fmt.Errorf("this master cannot send to channels of kind %s", channel.Kind)}
	default:
		tryCtx, cancel := context.WithTimeout(ctx, tryLimit)
		result = sender.Send(tryCtx, channel, target, message)
		cancel()
		if result.Final {
			code = CodeRefused
		}
	}
	w.Answer, w.Reached = result.Answer, append(w.Reached, result.Reached...)
	if ctx.Err() != nil && result.Err != nil { // interrupted by our stop: the next master tries at once
		w.Attempts--
		w.NextAt = n.cfg.Now().UTC()
		return n.put(ctx, w, 0)
	}
	return n.finish(ctx, w, channel, result, code)
}

// finish stores the result of a try.
func (n *Notifier) finish(ctx context.Context, w Notice, channel Channel, result Result, code string) tried {
	now := n.cfg.Now().UTC()
	log := n.cfg.Log.With("notice", w.ID, "channel", w.Channel, "kind", w.Kind, "job", w.Data.Job, "subject", w.Subject,
		"attempt", w.Attempts)
	if result.Err == nil {
		w.Status, w.Code, w.Error, w.DoneAt, w.NextAt = Sent, "", "", now, time.Time{}
		n.cfg.Metrics.NoticeSent(string(w.Kind))
		log.Info("notification_sent")
		return n.put(ctx, w, 0)
	}
	w.Error = cut(Line(result.Err.Error()), maxText)
	wait, more := pause(w.Attempts)
	switch {
	case result.Gone:
		code, result.Final = CodeGone, true
		if err := n.cfg.Channels.Disable(context.WithoutCancel(ctx), channel,
			"the receiver answered 410 Gone"); err != nil {
			log.Warn("channel_not_disabled", "error", err)
		}
	case result.Final:
	case !more || now.Sub(w.since()) > giveUp+maxRetryIn:
		code, result.Final = CodeGaveUp, true
	}
	w.Code = code
	n.cfg.Metrics.NoticeFailed(string(w.Kind), result.Final)
	if result.Final {
		w.Status, w.DoneAt, w.NextAt = Failed, now, time.Time{}
		log.Error("notification_given_up", "code", w.Code, "error", w.Error)
		return n.put(ctx, w, 0)
	}
	asked := min(result.RetryIn, maxRetryIn)
	wait = max(wait, asked)
	w.NextAt = now.Add(wait)
	log.Warn("notification_failed", "code", w.Code, "error", w.Error, "again_in", wait.Round(time.Second))
	return n.put(ctx, w, min(wait, max(maxRest, asked)))
}

// put stores a notification after a try. If that fails, it is tried again when its claim expires.
func (n *Notifier) put(ctx context.Context, w Notice, rest time.Duration) tried {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	w, ok, err := n.cfg.Store.Put(ctx, w)
	if err != nil || !ok {
		n.cfg.Log.Warn("notification_not_written", "notice", w.ID, "error", err)
	}
	return tried{notice: w, settled: err == nil && ok, rest: rest}
}

// tail adds the end of a run's output to a message. found is false if there is one that could not be read in time.
func (n *Notifier) tail(ctx context.Context, kind Kind, m *Message) (found bool) {
	found = true
	if run := cmp.Or(m.Data.StepRun, m.Data.Run); run != "" && m.Data.Printed > 0 && m.Type != "run.recovered" {
		ctx, cancel := context.WithTimeout(ctx, settleFor)
		defer cancel()
		most := maxTail
		if kind == KindMail && m.Data.Event == SubjectOutput {
			most = maxMailTail
		}
		output, err := n.cfg.History.Tail(ctx, run, m.Data.Printed, most)
		n.trouble(ctx, "output_tail_unreadable", err)
		m.Data.Output, found = output, output != ""
	}
	m.Text = textOf(&m.Data)
	return found
}

// Test sends a test message to a channel, once, and stores the result as a notification. The request is recorded in
// the audit first.
func (n *Notifier) Test(ctx context.Context, actor common.Actor, name string) (Notice, error) {
	if err := n.cfg.Channels.NoteTest(ctx, actor, name); err != nil {
		return Notice{}, err
	}
	channel, target, err := n.cfg.Channels.Channel(ctx, name)
	if err != nil {
		return Notice{}, testError(err)
	}
	if channel.Version == 0 {
		return Notice{}, common.Errorf(common.CodeNotFound, "channel %q not found", common.Shorten(name))
	}
	now := n.cfg.Now().UTC()
	data := Data{
		Event:  SubjectTest,
		Reason: &common.Reason{Code: "test", Text: "test requested by " + common.Excerpt(actor.Name)},
	}
	data.URL = n.link(&data)
	w := Notice{
		ID:        noticeID(now, name, common.NewID()),
		Channel:   name,
		Kind:      channel.Kind,
		Subject:   SubjectTest,
		Attempts:  1,
		CreatedAt: now,
		TriedAt:   now,
		Data:      data,
	}
	sender := n.cfg.Senders[channel.Kind]
	if sender == nil {
		return Notice{}, common.Errorf(common.CodeConflict, "this master cannot send to channels of kind %s",
			channel.Kind).WithHint("set smtpHost and smtpFrom to send mail")
	}
	message := messageOf(&w)
	tryCtx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	result := sender.Send(tryCtx, channel, target, message)
	w.DoneAt, w.Answer, w.Reached = n.cfg.Now().UTC(), result.Answer, result.Reached
	if w.Status = Sent; result.Err != nil {
		w.Status, w.Code, w.Error = Failed, CodeTrouble, cut(Line(result.Err.Error()), maxText)
		if result.Gone {
			w.Code = CodeGone
		} else if result.Final {
			w.Code = CodeRefused
		}
	}
	n.cfg.Log.Info("channel_tested", "channel", name, "kind", w.Kind, "by", actor.Name, "status", w.Status,
		"error", w.Error)
	n.put(ctx, w, 0)
	return w, nil
}

// Retry makes a failed or pending notification due now. The request is recorded in the audit.
func (n *Notifier) Retry(ctx context.Context, actor common.Actor, id string) (Notice, error) {
	w, err := n.cfg.Store.Requeue(ctx, actor, id)
	if err != nil {
		return Notice{}, err
	}
	n.cfg.Log.Info("notification_requeued", "notice", w.ID, "channel", w.Channel, "by", actor.Name)
	n.wakeSender() // another master reads it within nextLook
	return w, nil
}

// testError returns an error with code and hint for a channel that cannot be decrypted.
func testError(err error) error {
	if errors.Is(err, ErrSealed) {
		return &common.Error{Code: common.CodeConflict, Message: "the channel's secret cannot be decrypted", Err: err,
			Hint: "add the secretsKey that the channel was saved with to this master, or save all its fields again"}
	}
	return err
}
