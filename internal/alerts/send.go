package alerts

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

// How much is sent at a time.
const (
	atOnce   = 16
	nextLook = 15 * time.Second // for what others have written
)

// tried is what comes back from a try, to the one who sends.
type tried struct {
	notice  Notice
	settled bool          // it is known how the notice stands; else it is read again
	rest    time.Duration // the channel is left alone for so long
}

// sending is what there is to send.
type sending struct {
	waiting []Notice             // in order of their ids
	busy    map[string]bool      // channels on which one is on its way
	rests   map[string]time.Time // until when channels are left alone
}

// next picks what is to be tried now, and tells when to look again if nothing changes.
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

// done takes a try back.
func (s *sending) done(t *tried, now time.Time) {
	delete(s.busy, t.notice.Channel)
	delete(s.rests, t.notice.Channel)
	if t.rest > 0 {
		s.rests[t.notice.Channel] = now.Add(t.rest)
	}
	i, found := slices.BinarySearchFunc(s.waiting, t.notice.ID, func(w Notice, id string) int { return cmp.Compare(w.ID, id) })
	switch {
	case !found:
	case t.settled && t.notice.Status == Waiting:
		s.waiting[i] = t.notice
	default:
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// send sends what waits, until the context ends. Of each channel one is on its way at a
// time; a channel that fails is left alone for a while, with all that waits for it.
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
				n.trouble(ctx, "notices_unreadable", err)
				if !sleep(ctx, retryFollow) {
					return nil
				}
				continue
			}
			s.waiting, read = waiting, now
		}
		n.look(s.waiting)
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

func (n *Notifier) look(waiting []Notice) {
	n.cfg.Metrics.NoticesWaiting(len(waiting))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.crowd = crowdOf(waiting)
}

// failingFor is how long a channel must have been tried in vain before it counts as failing.
const failingFor = 30 * time.Second

// Failing gives the channels, by name, for which something was tried in vain for long, and
// that have taken nothing else since: notices are those that wait, and those that are done.
func Failing(notices []Notice, now time.Time) (channels []string) {
	took := map[string]time.Time{} // when a channel last took something
	for i := range notices {
		if w := &notices[i]; w.Status == Sent && w.DoneAt.After(took[w.Channel]) {
			took[w.Channel] = w.DoneAt
		}
	}
	for i := range notices {
		w := &notices[i]
		if w.Status == Waiting && w.Attempts > 0 && now.Sub(w.TriedAt) >= failingFor && w.TriedAt.After(took[w.Channel]) && !slices.Contains(channels, w.Channel) {
			channels = append(channels, w.Channel)
		}
	}
	slices.Sort(channels)
	return channels
}

// attempt tries a notice once. It claims it before, so that no other master tries it
// meanwhile, and one that dies with it is noticed.
func (n *Notifier) attempt(ctx context.Context, w Notice) tried {
	channel, target, err := n.cfg.Channels.Channel(ctx, w.Channel)
	if err != nil && !errors.Is(err, ErrSealed) {
		n.trouble(ctx, "channel_unreadable", fmt.Errorf("channel %s: %w", w.Channel, err))
		return tried{notice: w, settled: true, rest: retryFollow}
	}
	now := n.cfg.Now().UTC()
	w.Kind = channel.Kind
	w.Attempts++
	if w.TriedAt.IsZero() {
		w.TriedAt = now
	}
	w.NextAt = now.Add(claimFor)
	w, ok, err := n.cfg.Store.Put(ctx, w)
	if err != nil || !ok {
		n.trouble(ctx, "notice_not_claimed", err)
		return tried{notice: w, rest: retryFollow}
	}
	sender := n.cfg.Senders[channel.Kind]
	var result Result
	code := CodeTrouble
	switch {
	case channel.Version == 0:
		code, result = CodeUnknown, Result{Final: true, Err: fmt.Errorf("there is no channel %s", w.Channel)}
	case channel.Disabled:
		code, result = CodeDisabled, Result{Final: true, Err: fmt.Errorf("channel %s is disabled", w.Channel)}
	case channel.Sealed != "" && target.URL == "":
		code, result = CodeSealed, Result{Err: ErrSealed}
	case sender == nil:
		code, result = CodeKind, Result{Err: fmt.Errorf("this master cannot send to channels of kind %s", channel.Kind)}
	default:
		message := messageOf(&w)
		n.tail(ctx, &message)
		tryCtx, cancel := context.WithTimeout(ctx, tryLimit)
		result = sender.Send(tryCtx, channel, target, message)
		cancel()
		if result.Final {
			code = CodeRefused
		}
	}
	w.Answer, w.Reached = result.Answer, append(w.Reached, result.Reached...)
	if ctx.Err() != nil && result.Err != nil { // it broke off because we end: the next master tries at once
		w.Attempts--
		w.NextAt = n.cfg.Now().UTC()
		return n.put(ctx, w, 0)
	}
	return n.finish(ctx, w, channel, result, code)
}

// finish writes down what became of a try.
func (n *Notifier) finish(ctx context.Context, w Notice, channel Channel, result Result, code string) tried {
	now := n.cfg.Now().UTC()
	log := n.cfg.Log.With("notice", w.ID, "channel", w.Channel, "kind", w.Kind, "job", w.Data.Job, "subject", w.Subject, "attempt", w.Attempts)
	if result.Err == nil {
		w.Status, w.Code, w.Error, w.DoneAt, w.NextAt = Sent, "", "", now, time.Time{}
		n.cfg.Metrics.NoticeSent(string(w.Kind))
		log.Info("notice_sent")
		return n.put(ctx, w, 0)
	}
	w.Error = cut(Line(result.Err.Error()), maxText)
	wait, more := pause(w.Attempts)
	switch {
	case result.Gone:
		code, result.Final = CodeGone, true
		if err := n.cfg.Channels.Disable(context.WithoutCancel(ctx), channel, "the other side answered that it is gone"); err != nil {
			log.Warn("channel_not_disabled", "error", err)
		}
	case result.Final:
	case !more || now.Sub(w.CreatedAt) > giveUp+maxRetryIn:
		code, result.Final = CodeGaveUp, true
	}
	w.Code = code
	n.cfg.Metrics.NoticeFailed(string(w.Kind), result.Final)
	if result.Final {
		w.Status, w.DoneAt, w.NextAt = Failed, now, time.Time{}
		log.Error("notice_failed", "code", w.Code, "error", w.Error)
		return n.put(ctx, w, 0)
	}
	asked := min(result.RetryIn, maxRetryIn)
	wait = max(wait, asked)
	w.NextAt = now.Add(wait)
	log.Warn("notice_tried_in_vain", "code", w.Code, "error", w.Error, "again_in", wait.Round(time.Second))
	return n.put(ctx, w, min(wait, max(maxRest, asked)))
}

// put writes a notice after a try, also at the end. Where that fails it is tried again
// once its claim is over.
func (n *Notifier) put(ctx context.Context, w Notice, rest time.Duration) tried {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	w, ok, err := n.cfg.Store.Put(ctx, w)
	if err != nil || !ok {
		n.cfg.Log.Warn("notice_not_written", "notice", w.ID, "error", err)
	}
	return tried{notice: w, settled: err == nil && ok, rest: rest}
}

// tail puts the end of a run's output into a message, if it is to be had in time.
func (n *Notifier) tail(ctx context.Context, m *Message) {
	if m.Data.Run != "" && m.Data.Printed > 0 && m.Type != "run.recovered" {
		ctx, cancel := context.WithTimeout(ctx, settleFor)
		defer cancel()
		output, err := n.cfg.History.Tail(ctx, m.Data.Run, m.Data.Printed, maxTail)
		n.trouble(ctx, "output_tail_unreadable", err)
		m.Data.Output = output
	}
	m.Text = textOf(&m.Data)
}

// Test sends a test on a channel, once, and writes it down among the notices.
func (n *Notifier) Test(ctx context.Context, name, by string) (Notice, error) {
	channel, target, err := n.cfg.Channels.Channel(ctx, name)
	if err != nil {
		return Notice{}, testError(err)
	}
	if channel.Version == 0 {
		return Notice{}, common.Errorf(common.CodeNotFound, "there is no channel %s", common.Excerpt(name))
	}
	now := n.cfg.Now().UTC()
	data := Data{Event: SubjectTest, Reason: &common.Reason{Code: "test", Text: "this is a test, asked for by " + common.Excerpt(by)}}
	data.URL = n.link(&data)
	w := Notice{ID: noticeID(now, name, common.NewID()), Channel: name, Kind: channel.Kind, Subject: SubjectTest, Attempts: 1,
		CreatedAt: now, TriedAt: now, Data: data}
	sender := n.cfg.Senders[channel.Kind]
	if sender == nil {
		return Notice{}, &common.Error{Code: common.CodeConflict, Message: fmt.Sprintf("this master cannot send to channels of kind %s", channel.Kind),
			Hint: "mail needs the settings smtpHost and smtpFrom"}
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
	n.cfg.Log.Info("channel_tested", "channel", name, "kind", w.Kind, "by", by, "status", w.Status, "error", w.Error)
	n.put(ctx, w, 0)
	return w, nil
}

// testError gives a channel that cannot be opened a code.
func testError(err error) error {
	if errors.Is(err, ErrSealed) {
		return &common.Error{Code: common.CodeConflict, Message: "the channel's secret cannot be opened", Err: err,
			Hint: "give this master the secretsKey that the channel was saved with, or save URL and secret anew"}
	}
	return err
}
