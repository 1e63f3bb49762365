package waits

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carillon/internal/common"
)

// lookAll looks at waits for one job. wrote reports whether an outcome was written.
func (k *Keeper) lookAll(ctx context.Context, due []*kept, now time.Time) (wrote bool, failed error) {
	read := reads{past: k.cfg.Past}
	began := k.cfg.Now()
	for i, w := range due {
		if i > 0 && k.cfg.Now().Sub(began) > longest { // the others in the next pass, after those for other jobs
			return wrote, failed
		}
		w.asked, w.looked = false, now
		done, err := k.look(ctx, w, &read)
		wrote = wrote || done
		if err == nil {
			continue
		}
		failed = cmp.Or(failed, err)
		w.asked, w.notBefore = true, now.Add(tick)
		if common.CodeOf(err) == common.CodeUnavailable || ctx.Err() != nil { // the others would fail as well
			for _, other := range due[i+1:] {
				other.notBefore = now.Add(tick)
			}
			return wrote, failed
		}
	}
	return wrote, failed
}

// reads remembers the last read of a job's fires.
type reads struct {
	past Past
	uid  string
	in   span
	ends map[int64]*common.Run
}

func (r *reads) of(ctx context.Context, job *common.JobState, in span) (map[int64]*common.Run, error) {
	if r.ends != nil && r.uid == job.UID && r.in == in {
		return r.ends, nil
	}
	ends, err := r.past(ctx, job, in.from, in.to.Add(1), in.most())
	if err == nil {
		r.uid, r.in, r.ends = job.UID, in, ends
	}
	return ends, err
}

// look ends a wait, or notes what it waits for. done reports whether an outcome was written.
func (k *Keeper) look(ctx context.Context, w *kept, read *reads) (done bool, err error) {
	v, err := k.judge(ctx, &w.Wait, read)
	if err != nil {
		return false, err
	}
	if v.status != "" {
		outcome := w.Wait.Ended(v.status, v.reason, k.cfg.Now().UTC())
		return k.cfg.Store.End(ctx, &w.PendingWait, &outcome) // the change of the key arrives with its own event
	}
	w.notBefore = k.cfg.Now().Add(min(time.Duration(v.now.Total)*perFire, mostRest))
	now := k.cfg.Now()
	changed := w.Wait.Awaited.Found == nil || !same(w.Wait.Awaited.Found, &v.now)
	if w.owed = changed && now.Before(w.noted.Add(noteEvery)); !changed || w.owed {
		return false, nil
	}
	version, err := k.cfg.Store.Note(ctx, &w.PendingWait, v.now)
	if err == nil && version > 0 {
		awaited := *w.Wait.Awaited
		awaited.Found = &v.now
		w.Wait.Awaited, w.Version, w.noted = &awaited, version, now
	}
	return false, err
}

func same(a, b *common.AwaitedNow) bool {
	return a.Total == b.Total && a.Open == b.Open && slices.EqualFunc(a.Missing, b.Missing,
		func(a, b common.AwaitedFire) bool {
			return a.At.Equal(b.At) && a.Status == b.Status && a.Expired == b.Expired
		})
}

// judge reads the fires that a step waits for.
func (k *Keeper) judge(ctx context.Context, wait *common.FlowWait, read *reads) (verdict, error) {
	job, found, err := k.cfg.Jobs.AtLeast(ctx, wait.Awaited.Job, 0)
	if err != nil || !found {
		return missing(wait.Awaited.Job), err
	}
	plan, err := k.cfg.Schedules.OfJob(&job.Job)
	if err != nil {
		return verdict{}, err
	}
	in, err := spanOf(wait, plan)
	switch {
	case errors.Is(err, errNone):
		return noFire(wait), nil
	case err != nil:
		return verdict{}, err
	}
	if none, err := firesOf(&job, plan, in, nil); err != nil || len(none) > common.MaxAwaited {
		return tooMany(job.Name), err // before the ledger is read
	}
	ends, err := read.of(ctx, &job, in)
	if err != nil {
		return verdict{}, err
	}
	v, err := decide(wait, &job, plan, in, ends, k.cfg.Now())
	if err != nil || v.fire.IsZero() {
		return v, err
	}
	// What was read of it may be older than the trigger of its next attempt.
	again, err := k.cfg.Past(ctx, &job, v.fire, v.fire.Add(1), 1)
	if err != nil {
		return verdict{}, err
	}
	at := v.fire.UnixNano()
	if last := again[at]; last == nil || last.ID != ends[at].ID || !last.Status.Terminal() {
		return verdict{}, errChanged
	}
	return v, nil
}

// errChanged is the error of a read during which a fire was run again.
var errChanged = errors.New("a fire was run again while its job's fires were read")
