package jobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/defaults"
)

// PatchRequest is a change of many jobs.
type PatchRequest struct {
	Selection
	Patch  JobPatch `json:"patch" doc:"The change of each job; not of its name."`
	Digest string   `json:"digest,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Of a dry run: the change is refused (412) if its effect is no longer the same."`
	Note   string   `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the version and in the audit."`
}

type patchManyInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"Returns 409 if the key was used for another request within a day. Repeating the same request changes nothing."`
	DryRun         bool   `query:"dryRun" doc:"Write nothing, and return the effect."`
	Body           PatchRequest
}

// Patched is the result for one of the jobs.
type Patched struct {
	Name    string   `json:"name"`
	Result  string   `json:"result" enum:"changed,unchanged,refused,unknown" doc:"unknown: etcd did not respond, and the change may have been applied. Repeating the same request is safe."`
	Version int64    `json:"version,omitempty" doc:"The job's current version."`
	Fields  []string `json:"fields,omitempty" nullable:"false" doc:"The fields of a changed job whose effective values change."`
	Refusal *Refusal `json:"refusal,omitempty" doc:"Why the job was refused, or why the outcome is unknown."`
}

// PatchAnswer contains the result for each job.
type PatchAnswer struct {
	Items     []Patched `json:"items" nullable:"false" doc:"In the order of the request, or by name."`
	Changed   int       `json:"changed"`
	Unchanged int       `json:"unchanged"`
	Refused   int       `json:"refused"`
	Unknown   int       `json:"unknown"`
	DryRun    bool      `json:"dryRun,omitempty" doc:"Nothing was written; these are the changes that would be made."`
	Digest    string    `json:"digest,omitempty" doc:"Of a dry run: identifies its effect, for the request that makes the change."`
	Request   string    `json:"request,omitempty" doc:"Id of the request, which its entries in the audit have."`

	Review   *defaults.Review `json:"review,omitempty" doc:"Of a dry run: the changes in detail."`
	Warnings []common.Fault   `json:"warnings,omitempty" nullable:"false" doc:"Values that are accepted but probably not intended."`
}

// patching is the change of one of many jobs.
type patching struct {
	name  string
	state common.JobState // before the change, if it could be read
	saved common.Saved
	err   error // why it is refused
}

func (s *manyResource) patchMany(ctx context.Context, in *patchManyInput) (*core.Body[PatchAnswer], error) {
	b := &in.Body
	notify, err := b.check()
	if err != nil {
		return nil, err
	}
	if !in.DryRun {
		asks := slices.Concat([]string{"patch", b.Digest, b.Note}, b.asks())
		if err := s.once(ctx, in.IdempotencyKey, b.Patch.raw, asks...); err != nil {
			return nil, err
		}
	}
	all, err := s.patchings(ctx, &b.Selection)
	if err != nil {
		return nil, err
	}
	inParallel(ctx, len(all), func(i int) { s.preview(ctx, &all[i], b.Patch.raw) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	changes := slices.ContainsFunc(all, func(p patching) bool {
		return p.err == nil && p.saved.Effect == common.EffectChanged
	})
	digest, err := digestOf(all)
	if err != nil {
		return nil, err
	}
	if b.Digest != "" && b.Digest != digest && changes { // what was changed already needs no precondition
		return nil, common.Errorf(common.CodeStale, "the effect of the change is no longer the one that was reviewed").
			WithReason("effect_changed").WithHint("review the change again (dryRun=true)")
	}
	answer := PatchAnswer{Items: make([]Patched, len(all)), DryRun: in.DryRun, Request: core.VisitOf(ctx).RequestID}
	if answer.Warnings, err = s.doubtsOfNotify(ctx, notify); err != nil {
		return nil, err
	}
	who := core.Actor(ctx)
	who.Note = b.Note
	inParallel(ctx, len(all), func(i int) {
		answer.Items[i] = s.patchOne(ctx, who, &all[i], b.Patch.raw, in.DryRun)
	})
	for i := range answer.Items {
		answer.count(answer.Items[i].Result)
	}
	if in.DryRun {
		answer.Digest = digest
		if answer.Review, err = s.review(all); err != nil {
			return nil, err
		}
	}
	return &core.Body[PatchAnswer]{Body: answer}, context.Cause(ctx)
}

func (a *PatchAnswer) count(result string) {
	switch result {
	case string(common.EffectChanged):
		a.Changed++
	case string(common.EffectUnchanged):
		a.Unchanged++
	case resultUnknown:
		a.Unknown++
	default:
		a.Refused++
	}
}

// check returns all faults of the request as a whole, and the notifications that the patch sets.
func (b *PatchRequest) check() (*common.Notify, error) {
	faults := b.faults()
	var fields map[string]json.RawMessage
	if json.Unmarshal(b.Patch.raw, &fields) != nil || len(fields) == 0 {
		faults.Add("patch", "required", nil, "must set or remove a field")
	}
	for _, name := range []string{"name", "meta"} {
		if _, given := fields[name]; given {
			faults.Add("patch."+name, "exclusive", nil, "cannot be changed for many jobs")
		}
	}
	if len(faults) > 0 {
		return nil, common.Invalid("the request is not valid", faults...)
	}
	var notify *common.Notify
	if json.Unmarshal(fields["notify"], &notify) != nil {
		return nil, nil //nolint:nilerr,nilnil // it is none, or it is refused for each job
	}
	return notify, nil
}

// doubtsOfNotify returns remarks on notifications.
func (s *manyResource) doubtsOfNotify(ctx context.Context, n *common.Notify) (warnings []common.Fault, err error) {
	if n == nil {
		return nil, nil
	}
	channels, err := s.Channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range view.ChannelWarnings(n, channels) {
		w.Location = core.InBody("patch." + w.Location)
		warnings = append(warnings, w)
	}
	return warnings, nil
}

// patchings returns the selected jobs: of those that a filter finds, the ones that the caller may see in whole.
func (s *manyResource) patchings(ctx context.Context, f *Selection) (all []patching, err error) {
	if len(f.Jobs) > 0 {
		for _, name := range f.names() {
			all = append(all, patching{name: name})
		}
		inParallel(ctx, len(all), func(i int) { all[i].state, all[i].err = s.Jobs.Get(ctx, all[i].name) })
		return all, context.Cause(ctx)
	}
	found, err := s.matching(ctx, f)
	for i := range found {
		if core.May(ctx, access.Viewer, found[i].Group) {
			all = append(all, patching{name: found[i].Name, state: found[i]})
		}
	}
	return all, err
}

// preview sets what the patch would do with a job.
func (s *manyResource) preview(ctx context.Context, p *patching, patch json.RawMessage) {
	if p.err == nil {
		p.err = core.Allow(ctx, access.Editor, p.state.Group)
	}
	if p.err == nil { // its group was checked at this version
		p.saved, p.err = s.Jobs.Preview(ctx, p.name, common.Precondition{Version: p.state.Version},
			s.patching(ctx, patch))
	}
}

// patching returns the function that patches a job, in whose group the caller must be an editor then as well.
func (s *manyResource) patching(ctx context.Context, patch json.RawMessage) func(common.Job) (common.Job, error) {
	return func(old common.Job) (common.Job, error) {
		job, err := patched(&old, patch)
		if err == nil {
			err = core.Allow(ctx, access.Editor, job.Group)
		}
		if err == nil {
			err = s.permitted(ctx, &job, nil, nil)
		}
		return job, err
	}
}

// digestOf identifies the effect of a change: the jobs, at their versions, and their definitions after it.
func digestOf(all []patching) (string, error) {
	sum := sha256.New()
	for i := range all {
		p := &all[i]
		effect := struct {
			Name    string
			Version int64
			Code    common.Code
			After   *common.StoredJob
		}{Name: p.name, Code: common.CodeOf(p.err)}
		if p.err == nil && p.saved.Effect == common.EffectChanged { // versions of others do not matter
			effect.Version, effect.After = p.state.Version, &p.saved.State.StoredJob
		}
		after, err := json.Marshal(effect)
		if err != nil {
			return "", fmt.Errorf("encode job %q: %w", p.name, err)
		}
		sum.Write(after)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// patchOne changes a job as it was previewed.
func (s *manyResource) patchOne(ctx context.Context, who common.Actor, p *patching, patch json.RawMessage,
	dry bool) Patched {
	item := Patched{Name: p.name, Result: string(p.saved.Effect), Version: p.state.Version}
	change, err := s.affected(p)
	if err == nil && p.err == nil {
		item.Fields = change.Fields
	}
	if err = cmp.Or(p.err, err); err == nil && !dry && p.saved.Effect == common.EffectChanged {
		var state common.JobState
		state, err = s.Jobs.Change(ctx, who, "patch", p.name, common.Precondition{Version: p.state.Version},
			s.patching(ctx, patch))
		item.Version = state.Version
	}
	if err != nil {
		item.Version, item.Fields = p.state.Version, nil
		item.Result, item.Refusal = resultOf(err), refusalOf(s.problems.Of(ctx, err))
	}
	return item
}

// affected describes the change of a job, or why it is refused.
func (s *manyResource) affected(p *patching) (defaults.Affected, error) {
	if p.err == nil {
		before := p.state
		before.Job = *p.saved.Before
		change, err := defaults.ChangeOf(&before, &p.saved.State.Job).Affected(s.Interner, s.Now())
		change.Faults = nil // it was checked
		return change, err
	}
	refused := defaults.Affected{Name: p.name, Title: p.state.Title, Group: p.state.Group, Fields: []string{}}
	if e, ok := errors.AsType[*common.Error](p.err); ok && len(e.Faults) > 0 {
		refused.Faults = e.Faults
	} else if ok {
		refused.Faults = common.Faults{common.NewFault("", cmp.Or(e.Reason, string(e.Code)), nil, "%s", e.Message)}
	} else {
		refused.Faults = common.Faults{common.NewFault("", string(common.CodeInternal), nil, "cannot be read")}
	}
	return refused, nil
}

// review returns the changes in detail.
func (s *manyResource) review(all []patching) (*defaults.Review, error) {
	r, changed := &defaults.Review{Jobs: len(all)}, []defaults.Affected{}
	for i := range all {
		if p := &all[i]; p.err != nil || p.saved.Effect == common.EffectChanged {
			change, err := s.affected(p)
			if err != nil {
				return nil, err
			}
			changed = append(changed, change)
		}
	}
	return r, r.List(changed)
}
