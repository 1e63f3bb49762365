package jobmgr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// Bodies reads the definitions of flows.
type Bodies interface {
	// Load returns a definition from etcd, or from the log store if etcd does not hold it any more; it must not be
	// modified. The error is flow.ErrDefinition if it is missing or damaged.
	Load(ctx context.Context, uid, digest string) (*flow.Definition, *flow.Graph, error)
	// Has reports whether etcd holds a number of parts of a definition.
	Has(ctx context.Context, uid, digest string, parts int) (bool, error)
	// Parts returns the parts that are stored.
	Parts(ctx context.Context, uid, digest string) ([][]byte, error)
}

const (
	// maxSave bounds the size of a transaction that saves a flow: a larger body is put before it. etcd's default limit
	// is 1.5 MiB.
	maxSave = 400 << 10
	// maxAudited bounds the size of the steps that an audit entry contains.
	maxAudited = 64 << 10
)

// definition is a job to be stored. The steps of a flow are stored apart from it.
type definition struct {
	job       common.Job // without steps
	inherited []common.Inheritance
	steps     []common.Step
	flow      *common.FlowRef // nil if the job is no flow
	parts     [][]byte        // of its body; nil if it is stored already
	uid       string          // if the job is new
	restarted *common.Restart // request to replace the runs of a daemon job; nil: not by this change
}

// define returns the definition of a job.
func define(p prepared) (d definition, err error) {
	job := p.job
	d = definition{job: job, inherited: p.inherited, steps: job.Steps, uid: common.NewID()}
	switch d.job.Steps = nil; {
	case job.IsFlow():
		d.parts, d.flow, err = flow.Refer(&job)
	case job.RunOn != nil:
		spread := flow.Spread(&job)
		d.parts, d.flow, err = flow.Refer(&spread)
	}
	return d, err
}

// storedDefinition returns the definition of a stored job. That of a flow has no steps, unless the value of the job
// itself has them.
func storedDefinition(old *common.StoredJob) definition {
	if old.Flow == nil && old.Job.IsFlow() {
		if d, err := define(prepared{old.Job, old.Inherited}); err == nil {
			return d
		}
	}
	d := definition{job: old.Job, inherited: old.Inherited}
	if d.job.Steps = nil; old.HasBody() { // unless an older master has replaced the flow
		d.flow = old.Flow
	}
	return d
}

// whole returns the job with its steps.
func (d *definition) whole() common.Job {
	job := d.job
	job.Steps = d.steps
	return job
}

// startsOthers reports whether it is another flow than a stored one, and has steps that run jobs.
func (d *definition) startsOthers(before *common.FlowRef) bool {
	return d.flow != nil && d.flow.Jobs > 0 && (before == nil || before.Digest != d.flow.Digest)
}

// isSame reports whether the stored job has this definition.
func (d *definition) isSame(was *definition) bool {
	if (d.flow == nil) != (was.flow == nil) || d.flow != nil && d.flow.Digest != was.flow.Digest {
		return false
	}
	return d.restarted == nil && common.Same(&d.job, &was.job) && common.Same(&d.inherited, &was.inherited)
}

// over returns the definition as the replacement of a stored one: a body that is stored as a whole is not put again.
func (d *definition) over(before *definition, intact bool) *definition {
	over := *d
	if intact && before.flow != nil && d.flow != nil && before.flow.Digest == d.flow.Digest {
		over.parts = nil
	}
	return &over
}

// size returns the size of the definition in bytes.
func (d *definition) size() int64 {
	data, err := json.Marshal(&common.StoredJob{Job: d.job, Inherited: d.inherited})
	if err != nil {
		return 0 // a job can always be encoded
	}
	if d.flow != nil {
		return int64(len(data) + d.flow.Bytes)
	}
	return int64(len(data))
}

// Complete adds the steps of a flow that are stored apart from the job. It fails with the reason definition_missing if
// they are missing or damaged.
func (s *Store) Complete(ctx context.Context, job *common.StoredJob) error {
	if !job.IsFlow() || len(job.Steps) > 0 {
		return nil
	}
	def, _, err := s.cfg.Bodies.Load(ctx, job.UID, job.Flow.Digest)
	if err == nil {
		job.Steps = def.Job.Steps
		return nil
	}
	if errors.Is(err, flow.ErrDefinition) {
		return missing(job.Name, err)
	}
	return err
}

// Graph returns a definition of a flow by its digest; the current one if that is empty.
func (s *Store) Graph(ctx context.Context, job *common.StoredJob, digest string) (*flow.Graph, error) {
	if digest == "" && job.Flow == nil { // its steps are in the value of the job
		return flow.Compile(&job.Job)
	}
	current := digest == ""
	if current {
		digest = job.Flow.Digest
	}
	_, graph, err := s.cfg.Bodies.Load(ctx, job.UID, digest)
	switch {
	case errors.Is(err, flow.ErrDefinition) && current:
		return nil, missing(job.Name, err)
	case errors.Is(err, flow.ErrDefinition):
		return nil, common.Errorf(common.CodeNotFound, "job %q has no known definition %.12s", job.Name, digest).
			WithCause(err)
	}
	return graph, err
}

func missing(job string, err error) error {
	return common.Errorf(common.CodeConflict, "the steps of job %q are missing or damaged in etcd", job).
		WithReason(common.ReasonDefinitionMissing).WithCause(err).
		WithHint("save the flow again, from a file or from an earlier version")
}

// putBody adds the body of a flow to the transaction that saves it, or puts it before if both are too large for one
// transaction, which then compares that all parts exist: a body that no job names may be deleted at any time.
func (s *Store) putBody(ctx context.Context, t *etcdkit.Txn, name, uid string, d *definition) error {
	size := t.Size()
	for _, part := range d.parts {
		size += len(part)
	}
	for i, part := range d.parts {
		key := common.FlowPartKey(uid, d.flow.Digest, i)
		if size <= maxSave {
			t.Then(clientv3.OpPut(key, string(part)))
			continue
		}
		first := s.etcd.Txn()
		first.If(etcdkit.Absent(key)) // an existing part is the same
		first.Then(clientv3.OpPut(key, string(part)))
		if _, _, err := s.etcd.Commit(ctx, fmt.Sprintf("part %d of %s", i, subject(name)), first); err != nil {
			return err
		}
		t.If(etcdkit.Exists(key))
	}
	return nil
}

// moveBody adds the body of a flow whose job gets another uid, from which a body is found.
func (s *Store) moveBody(ctx context.Context, t *etcdkit.Txn, old *common.StoredJob, uid string) error {
	if !old.HasBody() || uid == old.UID {
		return nil
	}
	d := definition{flow: old.Flow}
	var err error
	if d.parts, err = s.cfg.Bodies.Parts(ctx, old.UID, old.Flow.Digest); err != nil {
		return err
	}
	return s.putBody(ctx, t, old.Name, uid, &d)
}

// withSteps returns the JSON of a stored job with the steps of its definition, unless they are too large for an audit
// entry.
func withSteps(job json.RawMessage, d *definition) json.RawMessage {
	if d.flow == nil || d.flow.Bytes > maxAudited || len(d.steps) == 0 || len(job) < 2 {
		return job
	}
	steps, err := json.Marshal(d.steps)
	if err != nil {
		return job // a step can always be encoded
	}
	whole := append(job[:len(job)-1:len(job)-1], `,"steps":`...)
	return append(append(whole, steps...), '}')
}

// loopFaults returns the fault of a job that starts itself: a flow through steps that run jobs, or a job that runs
// after what it leads to. Paths through after alone are reported by parentFaults.
func (s *Store) loopFaults(ctx context.Context, job *common.Job) (faults common.Faults, err error) {
	own := flow.Jobs(job)
	if len(own) == 0 && len(job.After) == 0 {
		return nil, nil
	}
	s.cfg.Catalog.Sync(ctx)
	children := s.cfg.Catalog.Children()
	steps := func(name string) []string {
		if name == job.Name {
			return own
		}
		state, known := s.cfg.Catalog.Job(name)
		if err != nil || !known || state.Flow == nil || state.Flow.Jobs == 0 {
			return nil
		}
		if failed := s.Complete(ctx, &state.StoredJob); failed != nil {
			if !errors.Is(failed, flow.ErrDefinition) { // such a flow runs no steps
				err = failed
			}
			return nil
		}
		return flow.Jobs(&state.Job)
	}
	path := flow.Loop(job.Name, func(name string) []string {
		starts := steps(name)
		for _, child := range children[name] {
			if child != job.Name { // whose parents may change
				starts = append(starts, child)
			}
		}
		if slices.Contains(job.After, name) {
			starts = append(starts, job.Name)
		}
		return starts
	})
	if err != nil || len(path) == 0 {
		return nil, err
	}
	through := false
	for i, name := range path[:len(path)-1] {
		through = through || slices.Contains(steps(name), path[i+1])
	}
	if err != nil || !through {
		return nil, err
	}
	first, last := path[1], path[len(path)-2]
	const most = 20 // jobs to name
	if len(path) > most {
		path = slices.Concat(path[:most-2], []string{"…"}, path[len(path)-1:])
	}
	shown := strings.Join(path, " → ")
	for i := range job.Steps {
		if job.Steps[i].Job == first {
			faults.Add(fmt.Sprintf("steps[%d].job", i), "loop", first, "leads back to this flow: %s", shown).
				With("path", shown)
		}
	}
	if i := slices.Index(job.After, last); len(faults) == 0 && i >= 0 {
		faults.Add(fmt.Sprintf("after[%d]", i), "loop", last, "the job would start itself: %s", shown).
			With("path", shown)
	}
	return faults, nil
}
