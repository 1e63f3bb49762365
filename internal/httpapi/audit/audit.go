package audit

import (
	"context"
	"encoding/json"
	"time"

	"carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog"
)

// Audit reads and verifies the audit.
type Audit interface {
	// List returns changes, newest first; partial while the log store is away.
	List(ctx context.Context, q runlog.ChangeQuery) (found []common.Change, partial bool, err error)
	// Verify verifies a part of the chain.
	Verify(ctx context.Context, from int64, limit int) (audit.Step, error)
}

// Resource serves the audit.
type Resource struct{ Audit Audit }

// AuditEntry is one change.
type AuditEntry struct {
	ID       string          `json:"id" doc:"Id; ids sort by time."`
	At       time.Time       `json:"at"`
	Actor    common.Actor    `json:"actor"`
	Verb     string          `json:"verb" doc:"What was done." example:"replace"`
	Kind     string          `json:"kind" doc:"Kind of object." example:"job"`
	Name     string          `json:"name" doc:"Name of the object." example:"nightly-report"`
	Revision int64           `json:"revision,omitempty" doc:"etcd revision of the change; for a job, its new version."`
	Before   json.RawMessage `json:"before,omitempty" doc:"State before the change; absent if there was none. Values of environment variables and of fields named like secrets are hidden."`
	After    json.RawMessage `json:"after,omitempty" doc:"State after the change, with the same values hidden."`
	Seq      int64           `json:"seq,omitempty" doc:"Place in the chain; absent until the entry is sealed, and for entries of versions without a chain."`
	Hash     string          `json:"hash,omitempty" doc:"Hash of its link in the chain."`
}

type auditListInput struct {
	Actor  string    `query:"actor" maxLength:"256" doc:"Only changes by this actor (exact name)."`
	Kind   string    `query:"kind" maxLength:"64" doc:"Only changes of this kind of object: for example job, run, user, token, session, worker, channel, pool or secret."`
	Name   string    `query:"name" maxLength:"256" doc:"Only changes of the object with this exact name."`
	Verb   string    `query:"verb" maxLength:"64" doc:"Only changes with this verb: for example create, replace, delete, pause, resume, run, kill or login."`
	From   time.Time `query:"from" doc:"Only changes at this time or later."`
	To     time.Time `query:"to" doc:"Only changes before this time."`
	Limit  int       `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items."`
	Cursor string    `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
}

type auditVerifyInput struct {
	From  int64 `query:"from" minimum:"1" default:"1" doc:"Place to begin at; a place that is no longer kept counts as the oldest one kept."`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"500" doc:"Maximum number of entries to verify."`
	Links bool  `query:"links" doc:"Include the hashed content, for verification elsewhere."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("access", "/api/v1")
	core.Register(r, op.Get("list-audit", "/audit", "List the audit, newest first", core.Admin).Everywhere(), s.list)
	core.Register(r, op.Get("verify-audit", "/audit/verify", "Verify a part of the audit chain",
		core.Admin).Everywhere(), s.verify)
}

func (s *Resource) list(ctx context.Context, in *auditListInput) (*core.Body[core.HistoryPage[AuditEntry]], error) {
	if err := core.CheckOrder(in.From, in.To); err != nil {
		return nil, err
	}
	q := runlog.ChangeQuery{
		Actor: in.Actor,
		Kind:  in.Kind,
		Name:  in.Name,
		Verb:  in.Verb,
		From:  in.From,
		To:    in.To,
		Limit: in.Limit + 1,
	}
	list := core.ListName("audit", "actor", in.Actor, "kind", in.Kind, "name", in.Name, "verb", in.Verb, "from",
		core.TimeFilter(in.From), "to", core.TimeFilter(in.To))
	var err error
	if q.Before, err = core.ReadCursor[string](list, in.Cursor); err != nil {
		return nil, err
	}
	found, partial, err := s.Audit.List(ctx, q)
	if err != nil {
		return nil, err
	}
	found, next, err := core.Take(list, found, in.Limit, func(c *common.Change) string { return c.ID })
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewHistoryPage(core.Items(found, auditEntry), next, partial))
}

func auditEntry(c *common.Change) AuditEntry {
	e := AuditEntry{
		ID:       c.ID,
		At:       c.At,
		Actor:    c.Actor,
		Verb:     c.Verb,
		Kind:     c.Kind,
		Name:     c.Name,
		Revision: c.Revision,
		Before:   audit.Mask(c.Before),
		After:    audit.Mask(c.After),
	}
	if c.Link != nil {
		e.Seq, e.Hash = c.Link.Seq, c.Link.Hash
	}
	return e
}

func (s *Resource) verify(ctx context.Context, in *auditVerifyInput) (*core.Body[audit.Step], error) {
	step, err := s.Audit.Verify(ctx, in.From, in.Limit)
	if err != nil {
		return nil, err
	}
	step.Complete(in.Links)
	return core.Reply(step)
}
