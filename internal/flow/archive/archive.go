package archive

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/flow"
)

const (
	// every is the interval between two passes.
	every = 30 * time.Second
	// unused is how long a body must have been unused before it is deleted.
	unused = 10 * time.Minute
	// mostDeleted is the number of bodies that one pass deletes.
	mostDeleted = 100
)

// Bodies are the definitions in etcd.
type Bodies interface {
	// Stored lists them.
	Stored(ctx context.Context) ([]flow.Stored, error)
	// Promised returns which of some nested flow runs are to go on with.
	Promised(ctx context.Context, some []flow.Stored) (map[flow.Stored]bool, error)
	// Parts returns the parts of one.
	Parts(ctx context.Context, uid, digest string) ([][]byte, error)
	// Delete deletes one, unless it is in use or keep reports that it is to be kept, and reports whether it did. The
	// name of the job may be empty if no job has the uid and the body is not readable.
	Delete(ctx context.Context, job string, of flow.Stored, keep func() (bool, error)) (done bool, err error)
}

// Definitions are those in the log store.
type Definitions interface {
	Define(ctx context.Context, digest string, parts [][]byte) error
	Defined(ctx context.Context, digests []string) (map[string]bool, error)
}

// Jobs provides the flows.
type Jobs interface {
	// Whole reports whether all jobs are known.
	Whole() bool
	// Flow returns the name of the job with a uid, and the digest of its steps; exists is false without such a job.
	Flow(uid string) (job, digest string, exists bool)
}

// Config configures an archivist.
type Config struct {
	Bodies      Bodies
	Definitions Definitions
	Jobs        Jobs
	Away        func() bool // whether the log store is unavailable
	Log         *slog.Logger
	Report      func(error) // receives the result of each pass
}

// Archivist does the work.
type Archivist struct {
	cfg   Config
	known map[flow.Stored]*body // owned by Run
}

// body is a definition in etcd.
type body struct {
	archived bool      // the log store has it
	job      string    // in the definition; empty until it was read
	idle     time.Time // since when it is unused; zero while it is in use
}

// New returns an archivist.
func New(cfg Config) *Archivist { return &Archivist{cfg: cfg} }

// Run works until the context ends.
func (a *Archivist) Run(ctx context.Context) error {
	a.known = nil
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed := false
	for {
		err := a.pass(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			a.cfg.Log.Warn("definitions_not_archived", "error", err)
		}
		failed = err != nil
		a.cfg.Report(err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (a *Archivist) pass(ctx context.Context) error {
	if a.cfg.Away() || !a.cfg.Jobs.Whole() {
		return nil
	}
	all, err := a.cfg.Bodies.Stored(ctx)
	if err != nil {
		return err
	}
	before := a.known
	a.known = make(map[flow.Stored]*body, len(all))
	for _, of := range all {
		if a.known[of] = before[of]; before[of] == nil {
			a.known[of] = &body{}
		}
	}
	if err := a.deliver(ctx, all); err != nil {
		return err
	}
	return a.clean(ctx, all)
}

// deliver copies the bodies that the log store lacks.
func (a *Archivist) deliver(ctx context.Context, all []flow.Stored) error {
	var asked []string
	for _, of := range all {
		if !a.known[of].archived {
			asked = append(asked, of.Digest)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	found, err := a.cfg.Definitions.Defined(ctx, asked)
	if err != nil {
		return err
	}
	for _, of := range all {
		b := a.known[of]
		if b.archived = b.archived || found[of.Digest]; b.archived {
			continue
		}
		parts, err := a.read(ctx, of)
		if err != nil {
			return err
		}
		if parts == nil {
			continue
		}
		if err := a.cfg.Definitions.Define(ctx, of.Digest, parts); err != nil {
			return err
		}
		b.archived = true
	}
	return nil
}

// read returns the parts of a body, and notes the name of its job; nil if the body is not complete yet, or damaged.
func (a *Archivist) read(ctx context.Context, of flow.Stored) ([][]byte, error) {
	parts, err := a.cfg.Bodies.Parts(ctx, of.UID, of.Digest)
	if err != nil && !errors.Is(err, flow.ErrDefinition) {
		return nil, err
	}
	def, unreadable := flow.Decode(parts, of.Digest)
	if err != nil || unreadable != nil {
		return nil, nil //nolint:nilerr // see above
	}
	a.known[of].job = def.Job.Name
	return parts, nil
}

// clean deletes bodies that have been unused for a while.
func (a *Archivist) clean(ctx context.Context, all []flow.Stored) error {
	now, deleted := time.Now(), 0
	promised := sync.OnceValues(func() (map[flow.Stored]bool, error) { return a.cfg.Bodies.Promised(ctx, all) })
	for _, of := range all {
		b := a.known[of]
		job, digest, exists := a.cfg.Jobs.Flow(of.UID)
		switch {
		case digest == of.Digest:
			b.idle = time.Time{}
			continue
		case b.idle.IsZero():
			b.idle = now
		}
		if now.Sub(b.idle) < unused || deleted == mostDeleted {
			continue
		}
		readable := b.archived
		if b.job == "" {
			parts, err := a.read(ctx, of)
			if err != nil {
				return err
			}
			readable = parts != nil
		}
		if readable && !b.archived {
			continue // it was completed since
		}
		if !exists {
			job = b.job
		}
		done, err := a.cfg.Bodies.Delete(ctx, job, of, func() (bool, error) {
			named, err := promised()
			return named[of], err
		})
		if err != nil {
			return err
		}
		if done {
			deleted++
		}
	}
	if deleted > 0 {
		a.cfg.Log.Info("definitions_deleted", "definitions", deleted)
	}
	return nil
}
