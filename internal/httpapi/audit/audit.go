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

// AuditActor is who made a change.
type AuditActor struct {
	Name   string `json:"name" doc:"Name of the user, token or process." example:"ada"`
	Remote string `json:"remote,omitempty" doc:"Client address." example:"192.0.2.7"`
	User   string `json:"user,omitempty" doc:"The user, if any."`
	Token  string `json:"token,omitempty" doc:"Id of the token used, if any."`
	Note   string `json:"note,omitempty" doc:"Reason given."`
}

// AuditEntry is one change.
type AuditEntry struct {
	ID       string          `json:"id" doc:"Id; ids sort by time."`
	At       time.Time       `json:"at"`
	Actor    AuditActor      `json:"actor"`
	Verb     string          `json:"verb" doc:"What was done." example:"replace"`
	Kind     string          `json:"kind" doc:"Kind of object." example:"job"`
	Name     string          `json:"name" doc:"Name of the object." example:"nightly-report"`
	Revision int64           `json:"revision,omitempty" doc:"etcd revision of the change; for a job, its new version."`
	Before   json.RawMessage `json:"before,omitempty" doc:"State before the change; absent if there was none. Values of environment variables and of fields named like secrets are hidden."`
	After    json.RawMessage `json:"after,omitempty" doc:"State after the change, with the same values hidden."`
	Seq      int64           `json:"seq,omitempty" doc:"Place in the chain; absent until the entry is sealed, and for entries of versions without a chain."`
	Hash     string          `json:"hash,omitempty" doc:"Hash of its link in the chain."`
}

// AuditAnchor is a link of the chain by its place and hash.
type AuditAnchor struct {
	Seq  int64  `json:"seq" doc:"Place; 0 before the first link."`
	Hash string `json:"hash" doc:"SHA-256, in hex; empty before the first link."`
}

// AuditFault is a fault of the chain.
type AuditFault struct {
	Seq  int64  `json:"seq" doc:"Place; for missing entries, the first one."`
	ID   string `json:"id,omitempty" doc:"Id of the entry."`
	Code string `json:"code" enum:"altered,broken,missing,twice,end" doc:"altered: an entry does not match its hash. broken: a link does not follow the one before it. missing: entries are missing. twice: two entries have the same place. end: the end of the chain does not match etcd."`
	Text string `json:"text"`
}

// AuditLink is the hashed content of an entry.
type AuditLink struct {
	Seq      int64  `json:"seq"`
	ID       string `json:"id"`
	Previous string `json:"previous" doc:"Hash of the previous link; empty for the first one."`
	Hash     string `json:"hash" doc:"SHA-256, in hex, of the bytes of previous followed by those of text."`
	Text     string `json:"text" doc:"The entry as JSON, byte for byte as hashed, with before and after replaced by their SHA-256 in hex."`
}

// AuditGap is a range of the chain.
type AuditGap struct {
	From int64 `json:"from" doc:"The place of its first entry."`
	To   int64 `json:"to" doc:"The place of its last entry."`
}

// AuditStep is a part of a verification.
type AuditStep struct {
	From     int64        `json:"from" doc:"First place checked."`
	To       int64        `json:"to" doc:"Last place checked; less than from if there was none."`
	Checked  int          `json:"checked" doc:"Number of verified entries."`
	Intact   bool         `json:"intact" doc:"No fault was found in this part."`
	Faults   []AuditFault `json:"faults" nullable:"false"`
	More     bool         `json:"more" doc:"The chain continues: request the next part from to + 1."`
	Waiting  int          `json:"waiting" doc:"Number of links at the end whose entries are not in the log store yet."`
	Head     AuditAnchor  `json:"head" doc:"End of the chain according to etcd."`
	Kept     AuditAnchor  `json:"kept" doc:"Last link deleted by retention: the chain is verified from the next one on."`
	Restored *AuditGap    `json:"restored,omitempty" doc:"Entries that etcd had forgotten when it was last restored from a backup; absent if it never was. They are verified by their hashes alone. Until cronctl recover --restored has accepted the restore, they are a fault (end) as well."`
	Links    []AuditLink  `json:"links,omitempty" nullable:"false" doc:"The hashed content, on request."`
}

type auditListInput struct {
	Actor  string    `query:"actor" maxLength:"256" doc:"Only changes by this actor (exact name)."`
	Kind   string    `query:"kind" maxLength:"64" doc:"Only changes of this kind of object: for example job, run, user, token, session, worker, channel or secret."`
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
		Actor:    AuditActor(c.Actor),
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

func (s *Resource) verify(ctx context.Context, in *auditVerifyInput) (*core.Body[AuditStep], error) {
	step, err := s.Audit.Verify(ctx, in.From, in.Limit)
	if err != nil {
		return nil, err
	}
	out := AuditStep{
		From:    step.From,
		To:      step.To,
		Checked: step.Checked,
		Intact:  len(step.Faults) == 0,
		Faults:  []AuditFault{},
		More:    step.More,
		Waiting: step.Waiting,
		Head:    AuditAnchor(step.Head),
		Kept:    AuditAnchor(step.Kept),
	}
	if step.Restored != (audit.Gap{}) {
		out.Restored = new(AuditGap(step.Restored))
	}
	for _, f := range step.Faults {
		out.Faults = append(out.Faults, AuditFault(f))
	}
	for i := range step.Entries {
		if c := &step.Entries[i]; in.Links {
			out.Links = append(out.Links, AuditLink{
				Seq:      c.Link.Seq,
				ID:       c.ID,
				Previous: c.Link.Previous,
				Hash:     c.Link.Hash,
				Text:     c.Link.Text,
			})
		}
	}
	return core.Reply(out)
}
