package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/audit"
)

// Audit is the record of all changes.
type Audit interface {
	// List lists changes, the newest first; partial while the log store is away.
	List(ctx context.Context, q runlog.ChangeQuery) (found []common.Change, partial bool, err error)
	// Verify verifies a part of the chain.
	Verify(ctx context.Context, from int64, limit int) (audit.Step, error)
}

type auditResource struct{ audit Audit }

// AuditActor is who made a change.
type AuditActor struct {
	Name   string `json:"name" doc:"The user, the token, or what else acted." example:"ada"`
	Remote string `json:"remote,omitempty" doc:"The address that it came from." example:"192.0.2.7"`
	User   string `json:"user,omitempty" doc:"The user who stands behind it."`
	Token  string `json:"token,omitempty" doc:"Id of the token that stands behind it."`
	Note   string `json:"note,omitempty" doc:"Why, where they said it."`
}

// AuditEntry is a change that somebody made.
type AuditEntry struct {
	ID       string          `json:"id" doc:"Sorts by time."`
	At       time.Time       `json:"at"`
	Actor    AuditActor      `json:"actor"`
	Verb     string          `json:"verb" doc:"What was done." example:"replace"`
	Kind     string          `json:"kind" doc:"What it was done to." example:"job"`
	Name     string          `json:"name" doc:"Which one." example:"nightly-report"`
	Revision int64           `json:"revision,omitempty" doc:"Of etcd, at which it was made; of a job, its version from then on."`
	Before   json.RawMessage `json:"before,omitempty" doc:"What was there before; absent where nothing was. Values of environment variables, and of what is named like a secret, are hidden."`
	After    json.RawMessage `json:"after,omitempty" doc:"What is there since then; hidden likewise."`
	Seq      int64           `json:"seq,omitempty" doc:"Its place in the chain; absent while it waits to be sealed, and where a version without a chain delivered it."`
	Hash     string          `json:"hash,omitempty" doc:"Hash of its link."`
}

// AuditAnchor is a link of the chain by its place and hash.
type AuditAnchor struct {
	Seq  int64  `json:"seq" doc:"Its place; 0 before the first link."`
	Hash string `json:"hash" doc:"SHA-256, in hex; empty before the first link."`
}

// AuditFault is something that is wrong with the chain.
type AuditFault struct {
	Seq  int64  `json:"seq" doc:"The place; of entries that are missing, the first one."`
	ID   string `json:"id,omitempty" doc:"The entry."`
	Code string `json:"code" enum:"altered,broken,missing,twice,end" doc:"altered: an entry is not what was hashed. broken: it was not made after the one before it. missing: entries are not there. twice: a place is taken twice. end: the chain does not end where etcd says."`
	Text string `json:"text"`
}

// AuditLink is what is hashed of an entry.
type AuditLink struct {
	Seq      int64  `json:"seq"`
	ID       string `json:"id"`
	Previous string `json:"previous" doc:"Hash of the link before; empty for the first one."`
	Hash     string `json:"hash" doc:"SHA-256, in hex, of the bytes of previous followed by those of text."`
	Text     string `json:"text" doc:"The entry as JSON, byte for byte as it was hashed; in the place of before and after are their SHA-256, in hex."`
}

// AuditGap is a range of the chain.
type AuditGap struct {
	From int64 `json:"from" doc:"The place of its first entry."`
	To   int64 `json:"to" doc:"The place of its last entry."`
}

// AuditStep is a part of a verification.
type AuditStep struct {
	From     int64        `json:"from" doc:"The first place that was looked at."`
	To       int64        `json:"to" doc:"The last one; lower than from where there was none."`
	Checked  int          `json:"checked" doc:"How many entries were verified."`
	Intact   bool         `json:"intact" doc:"Nothing was found to be wrong here."`
	Faults   []AuditFault `json:"faults" nullable:"false"`
	More     bool         `json:"more" doc:"The chain goes on: ask again from to + 1."`
	Waiting  int          `json:"waiting" doc:"Links at the end whose entries are on their way into the log store."`
	Head     AuditAnchor  `json:"head" doc:"Where the chain ends, as etcd knows it."`
	Kept     AuditAnchor  `json:"kept" doc:"The last link that was let go of for its age: the chain is verified from the next one on."`
	Restored *AuditGap    `json:"restored,omitempty" doc:"Entries that etcd had forgotten when it was last restored from a backup; absent if it never was. They are verified by their hashes alone. Until cronctl recover --restored has accepted the restore, they are a fault (end) as well."`
	Links    []AuditLink  `json:"links,omitempty" nullable:"false" doc:"What was hashed, where it was asked for."`
}

type auditListInput struct {
	Actor  string    `query:"actor" maxLength:"256" doc:"Only what this one did: the name, exactly."`
	Kind   string    `query:"kind" maxLength:"64" doc:"Only what was done to this kind of thing, such as job, run, user, token, session, worker, channel or secret."`
	Name   string    `query:"name" maxLength:"256" doc:"Only what was done to the thing of this name, exactly."`
	Verb   string    `query:"verb" maxLength:"64" doc:"Only what was done so, such as create, replace, delete, pause, resume, run, kill or login."`
	From   time.Time `query:"from" doc:"Only what was done at this time or later."`
	To     time.Time `query:"to" doc:"Only what was done before this time."`
	Limit  int       `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many to list."`
	Cursor string    `query:"cursor" maxLength:"1024" doc:"nextCursor of the page before; the filters must be the same."`
}

type auditListOutput struct{ Body HistoryPage[AuditEntry] }

type auditVerifyInput struct {
	From  int64 `query:"from" minimum:"1" default:"1" doc:"The place to begin at; one that is no longer kept counts as the oldest that is."`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"500" doc:"How many entries to verify at most."`
	Links bool  `query:"links" doc:"Give what was hashed, so that it can be computed again elsewhere."`
}

type auditVerifyOutput struct{ Body AuditStep }

func (s *auditResource) register(r *router) {
	register(r, route{access: needs(auth.Admin), Operation: huma.Operation{OperationID: "list-audit", Method: http.MethodGet, Path: "/api/v1/audit",
		Summary: "Who did what, when and from where, the newest first", Tags: []string{"access"},
		Description: "Every change is an entry from the moment on when it is made: to jobs, runs, users, tokens, sessions, workers, channels and secrets. It needs the role admin for everything, not for a group."}}, s.list)
	register(r, route{access: needs(auth.Admin), Operation: huma.Operation{OperationID: "verify-audit", Method: http.MethodGet, Path: "/api/v1/audit/verify",
		Summary: "Verify a part of the chain of all changes", Tags: []string{"access"},
		Description: "Each entry is held against its hash, each hash against the one before it, and the end against etcd. Ask again from to + 1 while there is more. With links it can be computed elsewhere: the hash of a link is the SHA-256 of previous and text, and previous is the hash of the link before."}}, s.verify)
}

func (s *auditResource) list(ctx context.Context, in *auditListInput) (*auditListOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	if err := ordered(in.From, in.To); err != nil {
		return nil, err
	}
	q := runlog.ChangeQuery{Actor: in.Actor, Kind: in.Kind, Name: in.Name, Verb: in.Verb, From: in.From, To: in.To, Limit: in.Limit + 1}
	list := asked("audit", "actor", in.Actor, "kind", in.Kind, "name", in.Name, "verb", in.Verb, "from", askedTime(in.From), "to", askedTime(in.To))
	if in.Cursor != "" {
		var err error
		if q.Before, err = readCursor[string](list, in.Cursor); err != nil {
			return nil, err
		}
	}
	found, partial, err := s.audit.List(ctx, q)
	if err != nil {
		return nil, err
	}
	next := ""
	if len(found) > in.Limit {
		found = found[:in.Limit]
		if next, err = writeCursor(list, found[in.Limit-1].ID); err != nil {
			return nil, err
		}
	}
	items := make([]AuditEntry, len(found))
	for i := range found {
		items[i] = auditEntry(&found[i])
	}
	return &auditListOutput{Body: historyPage(items, next, partial)}, nil
}

func auditEntry(c *common.Change) AuditEntry {
	e := AuditEntry{ID: c.ID, At: c.At, Actor: AuditActor{Name: c.Actor.Name, Remote: c.Actor.Remote, User: c.Actor.User, Token: c.Actor.Token, Note: c.Actor.Note}, Verb: c.Verb, Kind: c.Kind, Name: c.Name, Revision: c.Revision,
		Before: audit.Mask(c.Before), After: audit.Mask(c.After)}
	if c.Link != nil {
		e.Seq, e.Hash = c.Link.Seq, c.Link.Hash
	}
	return e
}

func (s *auditResource) verify(ctx context.Context, in *auditVerifyInput) (*auditVerifyOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	step, err := s.audit.Verify(ctx, in.From, in.Limit)
	if err != nil {
		return nil, err
	}
	out := AuditStep{From: step.From, To: step.To, Checked: step.Checked, Intact: len(step.Faults) == 0, Faults: []AuditFault{}, More: step.More,
		Waiting: step.Waiting, Head: AuditAnchor(step.Head), Kept: AuditAnchor(step.Kept)}
	if step.Restored != (audit.Gap{}) {
		out.Restored = new(AuditGap(step.Restored))
	}
	for _, f := range step.Faults {
		out.Faults = append(out.Faults, AuditFault(f))
	}
	for i := range step.Entries {
		if c := &step.Entries[i]; in.Links {
			out.Links = append(out.Links, AuditLink{Seq: c.Link.Seq, ID: c.ID, Previous: c.Link.Previous, Hash: c.Link.Hash, Text: c.Link.Text})
		}
	}
	return &auditVerifyOutput{Body: out}, nil
}
