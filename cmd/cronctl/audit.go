package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) getAudit() *cobra.Command {
	var params apiclient.ListAuditParams
	var actor, kind, name, verb, from, to string
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who did what to which thing, the newest first",
		Long: `List who did what to which thing, from where and why, the newest first. With -o json or
yaml each entry has what was there before and after, with what is secret hidden.`,
		Example: `  cronctl get audit --from -1d
  cronctl get audit --kind job --name nightly-report -o yaml --limit 1
  cronctl get audit --actor ann --verb delete`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			params.Actor, params.Kind, params.Name, params.Verb = set(actor), set(kind), set(name), set(verb)
			if params.From, params.To, err = between(from, to); err != nil {
				return err
			}
			return c.list(cmd.Context(), listing{show: c.showAudit, newest: true, fetch: func(ctx context.Context) (list, error) {
				return pages(limit, func(cursor *string, size *int64) (*http.Response, error) {
					params.Cursor, params.Limit = cursor, size
					return api.ListAudit(ctx, &params)
				})
			}})
		},
	}
	cmd.Flags().StringVar(&actor, "actor", "", "only what this one did: a user, or the name of a token")
	cmd.Flags().StringVar(&kind, "kind", "", "only what was done to this kind of thing: job, run, user, token, session, worker, channel or secret")
	cmd.Flags().StringVar(&name, "name", "", "only what was done to the thing of this name")
	cmd.Flags().StringVar(&verb, "verb", "", "only what was done so: create, replace, delete, pause, resume, run, kill, login and others")
	betweenFlags(cmd, &from, &to, "changes")
	cmd.Flags().IntVar(&limit, "limit", 50, "list at most so many; 0 for all")
	return cmd
}

func (c *cli) showAudit(v any, items []json.RawMessage) error {
	heads := []string{"WHEN", "WHO", "FROM", "DID", "KIND", "NAME", "NOTE"}
	if c.format == "wide" {
		heads = append(heads, "USER", "TOKEN", "REVISION", "SEQ", "HASH")
	}
	return show(c, v, items, heads, func(e apiclient.AuditEntry) []string {
		cells := []string{when(e.At), e.Actor.Name, or(text(e.Actor.Remote), "-"), e.Verb, e.Kind, e.Name, or(text(e.Actor.Note), "-")}
		if c.format == "wide" {
			seq, revision := "-", "-"
			if e.Seq != nil {
				seq = fmt.Sprint(*e.Seq)
			}
			if e.Revision != nil {
				revision = fmt.Sprint(*e.Revision)
			}
			cells = append(cells, or(text(e.Actor.User), "-"), or(text(e.Actor.Token), "-"), revision, seq, or(cut(text(e.Hash), 12), "-"))
		}
		return cells
	})
}

func (c *cli) audit() *cobra.Command {
	return group("audit", "Verify the chain of the audit log", "  cronctl audit verify", c.verifyAudit())
}

// chainFlags say which part of the chain is verified.
type chainFlags struct {
	from   int64
	anchor string
}

// verdict is what came of a verification.
type verdict struct {
	Intact  bool                   `json:"intact"`
	Checked int64                  `json:"checked"`
	From    int64                  `json:"from"`
	To      int64                  `json:"to"`
	Waiting int64                  `json:"waiting"`
	Head    apiclient.AuditAnchor  `json:"head"`
	Faults  []apiclient.AuditFault `json:"faults"`
}

func (c *cli) verifyAudit() *cobra.Command {
	var f chainFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no entry of the audit log was changed, taken out or put in",
		Long: `Verify that no entry of the audit log was changed, taken out or put in. The server holds
every entry against its hash; and the hashes are computed here again, each of the one
before and of the entry, so that nobody has to believe the server.

Who could write into both etcd and the log store could make the whole chain anew. Keep the
place and hash that are printed at the end somewhere else, and give them with --anchor the
next time: then that is noticed, too. Exit code 1 says that something is wrong.`,
		Example: `  cronctl audit verify
  cronctl audit verify --anchor 1042:d2359c53cc209eec95e346b834461d6b3e5ee7d5382fbb20541ff8a3aff0a2cb`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := c.verifyChain(cmd.Context(), &f)
			if err != nil {
				return err
			}
			return c.showVerdict(v)
		},
	}
	cmd.Flags().Int64Var(&f.from, "from", 0, "the place in the chain to begin at (default: the oldest that is kept)")
	cmd.Flags().StringVar(&f.anchor, "anchor", "", "place and hash of a link as they were once, SEQ:HASH")
	return cmd
}

// chain computes the links again.
type chain struct {
	last   apiclient.AuditAnchor // the link before; its hash is empty where nobody knows it yet
	known  bool                  // last is known
	anchor apiclient.AuditAnchor // that must be there, where its place is not 0
	met    bool
	faults []apiclient.AuditFault
}

func (h *chain) fault(seq int64, id, code, format string, args ...any) {
	h.faults = append(h.faults, apiclient.AuditFault{Seq: seq, Id: set(id), Code: apiclient.AuditFaultCode(code), Text: fmt.Sprintf(format, args...)})
}

// add takes the next link.
func (h *chain) add(l *apiclient.AuditLink) {
	sum := sha256.Sum256([]byte(l.Previous + l.Text))
	switch hash := hex.EncodeToString(sum[:]); {
	case hash != l.Hash:
		h.fault(l.Seq, l.Id, "altered", "computed here, its hash is %s, and not %s", hash, common.Excerpt(l.Hash))
	case h.known && l.Seq != h.last.Seq+1:
		h.fault(h.last.Seq+1, "", "missing", "after %d comes %d", h.last.Seq, l.Seq)
	case h.known && l.Previous != h.last.Hash:
		h.fault(l.Seq, l.Id, "broken", "it was not made after the one before it")
	}
	if l.Seq == h.anchor.Seq {
		h.meet(l.Hash)
	}
	h.last, h.known = apiclient.AuditAnchor{Seq: l.Seq, Hash: l.Hash}, true
}

// meet holds the hash of the anchor's place against it.
func (h *chain) meet(hash string) {
	h.met = true
	if hash != h.anchor.Hash {
		h.fault(h.anchor.Seq, "", "altered", "its hash is not that of the anchor: the chain was made anew")
	}
}

func (c *cli) verifyChain(ctx context.Context, f *chainFlags) (*verdict, error) {
	h := &chain{}
	if f.anchor != "" {
		place, hash, _ := strings.Cut(f.anchor, ":")
		seq, err := strconv.ParseInt(place, 10, 64)
		if _, bad := hex.DecodeString(hash); err != nil || seq <= 0 || bad != nil || len(hash) != 2*sha256.Size {
			return nil, &common.Error{Code: common.CodeInvalid, Message: "--anchor " + common.Excerpt(f.anchor) + " is not SEQ:HASH", Hint: "give what audit verify printed at its end"}
		}
		h.anchor = apiclient.AuditAnchor{Seq: seq, Hash: strings.ToLower(hash)}
	}
	api, err := c.api()
	if err != nil {
		return nil, err
	}
	v := &verdict{Faults: []apiclient.AuditFault{}, Intact: true}
	params := apiclient.VerifyAuditParams{Links: new(true)}
	if f.from > 0 {
		params.From = &f.from
	}
	told := time.Now()
	for {
		step, err := apiclient.Decode[apiclient.AuditStep](api.VerifyAudit(ctx, &params))
		if err != nil {
			return nil, err
		}
		if v.From == 0 {
			v.From = step.From
			if step.From == step.Kept.Seq+1 { // the first of all, or the first that is kept
				h.last, h.known = step.Kept, true
			}
			if h.anchor.Seq > 0 && h.anchor.Seq == step.Kept.Seq {
				h.meet(step.Kept.Hash)
			}
		}
		if step.Links != nil {
			for i := range *step.Links {
				h.add(&(*step.Links)[i])
			}
		}
		v.Checked, v.To, v.Waiting, v.Head = v.Checked+step.Checked, step.To, step.Waiting, step.Head
		v.Faults = append(v.Faults, step.Faults...)
		if !step.Intact && len(step.Faults) == 0 {
			v.Intact = false
		}
		if !step.More || step.To < step.From {
			break
		}
		params.From = new(step.To + 1)
		if c.asks() && time.Since(told) > 2*time.Second {
			told = time.Now()
			fmt.Fprintf(c.stderr, "verified up to %d of %d\n", step.To, step.Head.Seq)
		}
	}
	h.end(v)
	v.Faults = append(v.Faults, h.faults...)
	v.Intact = v.Intact && len(v.Faults) == 0
	return v, nil
}

// end holds the last link against where etcd says that the chain ends.
func (h *chain) end(v *verdict) {
	if v.Waiting == 0 && h.known && (h.last.Seq != v.Head.Seq || h.last.Hash != v.Head.Hash) {
		h.fault(h.last.Seq, "", "end", "the chain ends at %d, and etcd says %d", h.last.Seq, v.Head.Seq)
	}
	if h.anchor.Seq > 0 && !h.met {
		h.fault(h.anchor.Seq, "", "missing", "the anchor was not met: it is older than what is kept or was looked at, or the chain is shorter than it was")
	}
}

func (c *cli) showVerdict(v *verdict) error {
	if c.format == "json" || c.format == "yaml" {
		if err := c.print(v); err != nil {
			return err
		}
	} else {
		for _, f := range v.Faults {
			fmt.Fprintln(c.stdout, oneLine(fmt.Sprintf("%s at %d %s: %s", f.Code, f.Seq, text(f.Id), f.Text)))
		}
		state := "the chain is intact"
		if !v.Intact {
			state = "the chain is NOT intact"
		}
		span := "nothing is sealed yet"
		if v.Checked > 0 {
			span = fmt.Sprintf("%d entries were verified, from %d to %d", v.Checked, v.From, v.To)
		}
		fmt.Fprintf(c.stdout, "%s: %s\n", state, span)
		if v.Waiting > 0 {
			fmt.Fprintf(c.stdout, "%d more are on their way into the log store\n", v.Waiting)
		}
		if v.Head.Seq > 0 {
			fmt.Fprintf(c.stdout, "it ends at %d:%s\n", v.Head.Seq, v.Head.Hash)
		}
	}
	if !v.Intact {
		return exitError(exitJobFailed)
	}
	return nil
}
