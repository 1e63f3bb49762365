package notify

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// quietAt reports whether an event waits for the end of the job's quiet hours. Of an urgent job only output does.
func quietAt(job *common.JobState, event common.Event, now time.Time) bool {
	n := job.Notify
	return n != nil && n.Quiet != nil && (!n.Urgent || event == common.EventOutput) && n.Quiet.At(now, job.Zone())
}

// digest creates digests for the channels of jobs whose quiet hours are over, once there is room for them: one per
// channel. Until then the states hold it, at most once per job and channel.
func (n *Notifier) digest(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, known := n.cfg.Jobs.Notifying()
	if !known {
		return nil
	}
	jobs := make(map[string]*common.JobState, len(all))
	for i := range all {
		jobs[all[i].Name] = &all[i]
	}
	over := map[string]bool{} // the quiet hours of a job
	var channels []string
	for _, s := range n.states {
		waiting := slices.Concat(s.Quiet, s.Muted)
		if len(waiting) == 0 {
			continue
		}
		if job := jobs[s.Job]; job != nil && job.UID == s.UID && quietAt(job, common.EventOutput, now) {
			continue
		}
		over[s.Job] = true
		for _, to := range waiting {
			if n.backlog.room(to) && !slices.Contains(channels, to) {
				channels = append(channels, to)
			}
		}
	}
	slices.Sort(channels)
	for some := range slices.Chunk(channels, perSummary) {
		if err := n.digestTo(ctx, some, over, jobs, now); err != nil {
			return err
		}
	}
	if len(channels) > 0 {
		n.wakeSender()
	}
	return nil
}

// digestTo creates the digests of some channels.
func (n *Notifier) digestTo(ctx context.Context, channels []string, over map[string]bool,
	jobs map[string]*common.JobState, now time.Time) error {
	toOne := func(to string) bool { return slices.Contains(channels, to) }
	var held []State
	for _, s := range n.states {
		if over[s.Job] && (slices.ContainsFunc(s.Quiet, toOne) || slices.ContainsFunc(s.Muted, toOne)) {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b State) int { return cmp.Compare(a.Job, b.Job) })
	var notices []Notice
	for _, to := range channels {
		data := Data{Event: SubjectDigest, Digest: &Digest{}}
		for i := range held {
			job := jobs[held[i].Job]
			if job != nil && job.UID == held[i].UID && (slices.Contains(job.Notify.Channels(), to) ||
				slices.Contains(held[i].Raised, to)) {
				data.gather(&held[i], to)
			}
		}
		if data.Count+data.Digest.Recovered+data.Digest.Printed == 0 {
			continue
		}
		data.URL = n.link(&data)
		notices = append(notices, Notice{
			ID:        noticeID(now, to, string(SubjectDigest)),
			Channel:   to,
			Subject:   SubjectDigest,
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now,
			Data:      data,
		})
	}
	for i := range held {
		s := &held[i]
		s.Quiet = slices.DeleteFunc(slices.Clone(s.Quiet), toOne)
		s.Muted = slices.DeleteFunc(slices.Clone(s.Muted), toOne)
		s.listed()
		if s.Trouble {
			s.ToldAt = now
		}
	}
	n.cfg.Log.Info("digest_created", "jobs", len(held), "channels", channels)
	return n.writeSummaries(ctx, held, notices)
}

// gather adds a job to the digest of a channel.
func (d *Data) gather(s *State, to string) {
	add := func(count *int64, names *[]string) {
		if *count++; len(*names) < maxNamed {
			*names = append(*names, s.Job)
		}
	}
	switch _, ill := s.ill(); {
	case !slices.Contains(s.Quiet, to):
	case ill:
		add(&d.Count, &d.Jobs)
	default:
		add(&d.Digest.Recovered, &d.Digest.RecoveredJob)
	}
	if slices.Contains(s.Muted, to) {
		add(&d.Digest.Printed, &d.Digest.PrintedJob)
	}
}

// digestWords returns the numbers of a digest.
func digestWords(d *Data) []any {
	words := []any{"trouble", d.Count}
	if g := d.Digest; g != nil {
		words = append(words, "recovered", g.Recovered, "printed", g.Printed)
	}
	return words
}

// digestLine returns them as a sentence.
func digestLine(d *Data) string {
	var parts []string
	if d.Count > 0 {
		parts = append(parts, common.Count(d.Count, "job is", "jobs are")+" in trouble")
	}
	if g := d.Digest; g != nil && g.Recovered > 0 {
		parts = append(parts, common.Count(g.Recovered, "job has", "jobs have")+" recovered")
	}
	if g := d.Digest; g != nil && g.Printed > 0 {
		parts = append(parts, common.Count(g.Printed, "job has", "jobs have")+" printed output")
	}
	return "after quiet hours: " + strings.Join(parts, ", ")
}
