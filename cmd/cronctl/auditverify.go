package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) audit() *cobra.Command {
	return group("audit", "Verify the audit chain", "  cronctl audit verify", c.verifyAudit())
}

// chainFlags select the part of the chain to verify.
type chainFlags struct {
	from   int64
	anchor string
}

// verdict is the result of a verification.
type verdict struct {
	Intact  bool                   `json:"intact"`
	Checked int64                  `json:"checked"`
	From    int64                  `json:"from"`
	To      int64                  `json:"to"`
	Waiting int64                  `json:"waiting"`
	Head    apiclient.AuditAnchor  `json:"head"`
	Faults  []apiclient.AuditFault `json:"faults"`
	// Restored is the range of entries that etcd had forgotten when it was restored last.
	Restored *apiclient.AuditGap `json:"restored,omitempty"`
}

func (c *cli) verifyAudit() *cobra.Command {
	var f chainFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no audit entry was changed, removed or added",
		Long: `Verify that no audit entry was changed, removed or added. The server compares every entry
with its hash. cronctl computes the hashes again, each from the previous hash and the entry,
so that the result does not depend on trust in the server.

An attacker who can write to both etcd and the log store can build a new chain. Store the
sequence number and hash that are printed at the end in another place, and pass them with
--anchor next time: a rebuilt chain is then detected. Exit code 1: the chain is not intact.`,
		Example: `  cronctl audit verify
  cronctl audit verify --anchor 1042:d2359c53cc209eec95e346b834461d6b3e5ee7d5382fbb20541ff8a3aff0a2cb`,
		Args: cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			v, err := c.verifyChain(ctx, api, &f)
			if err != nil {
				return err
			}
			return c.showVerdict(v)
		}),
	}
	cmd.Flags().Int64Var(&f.from, "from", 0, "sequence number to start at (default: the oldest entry that is kept)")
	cmd.Flags().StringVar(&f.anchor, "anchor", "", "sequence number and hash of an earlier verification, SEQ:HASH")
	return cmd
}

// chain recomputes the hashes of the links.
type chain struct {
	last   apiclient.AuditAnchor // previous link; its hash is empty while unknown
	known  bool                  // last is known
	anchor apiclient.AuditAnchor // must be found, unless its Seq is 0
	met    bool
	faults []apiclient.AuditFault
}

func (h *chain) fault(seq int64, id, code, format string, args ...any) {
	h.faults = append(h.faults, apiclient.AuditFault{
		Seq:  seq,
		Id:   set(id),
		Code: apiclient.AuditFaultCode(code),
		Text: fmt.Sprintf(format, args...),
	})
}

// add verifies the next link.
func (h *chain) add(l *apiclient.AuditLink) {
	sum := sha256.Sum256([]byte(l.Previous + l.Text))
	switch hash := hex.EncodeToString(sum[:]); {
	case hash != l.Hash:
		h.fault(l.Seq, l.Id, "altered", "computed hash is %s, stored hash is %s", hash, common.Excerpt(l.Hash))
	case h.known && l.Seq != h.last.Seq+1:
		h.fault(h.last.Seq+1, "", "missing", "entry %d is followed by %d", h.last.Seq, l.Seq)
	case h.known && l.Previous != h.last.Hash:
		h.fault(l.Seq, l.Id, "broken", "its previous hash is not that of the entry before it")
	}
	if l.Seq == h.anchor.Seq {
		h.meet(l.Hash)
	}
	h.last, h.known = apiclient.AuditAnchor{Seq: l.Seq, Hash: l.Hash}, true
}

// meet compares the hash with that of the anchor.
func (h *chain) meet(hash string) {
	h.met = true
	if hash != h.anchor.Hash {
		h.fault(h.anchor.Seq, "", "altered", "its hash is not that of the anchor: the chain was rebuilt")
	}
}

func (c *cli) verifyChain(ctx context.Context, api *apiclient.API, f *chainFlags) (*verdict, error) {
	h := &chain{}
	if f.anchor != "" {
		place, hash, _ := strings.Cut(f.anchor, ":")
		seq, err := strconv.ParseInt(place, 10, 64)
		if _, bad := hex.DecodeString(hash); err != nil || seq <= 0 || bad != nil || len(hash) != 2*sha256.Size {
			return nil, invalid("--anchor "+common.Excerpt(f.anchor)+" is not SEQ:HASH",
				"pass what audit verify printed last")
		}
		h.anchor = apiclient.AuditAnchor{Seq: seq, Hash: strings.ToLower(hash)}
	}
	v := &verdict{Faults: []apiclient.AuditFault{}, Intact: true}
	params := apiclient.VerifyAuditParams{Links: new(true), From: set(max(f.from, 0))}
	told := time.Now()
	for {
		step, err := apiclient.Decode[apiclient.AuditStep](api.VerifyAudit(ctx, &params))
		if err != nil {
			return nil, err
		}
		if v.From == 0 {
			v.From = step.From
			if step.From == step.Kept.Seq+1 { // the first of the chain, or the oldest that is kept
				h.last, h.known = step.Kept, true
			}
			if h.anchor.Seq > 0 && h.anchor.Seq == step.Kept.Seq {
				h.meet(step.Kept.Hash)
			}
		}
		for _, link := range value(step.Links) {
			h.add(&link)
		}
		v.Checked, v.To, v.Waiting, v.Head = v.Checked+step.Checked, step.To, step.Waiting, step.Head
		v.Faults = append(v.Faults, step.Faults...)
		v.Restored = step.Restored
		if !step.Intact && len(step.Faults) == 0 {
			v.Intact = false
		}
		if !step.More || step.To < step.From {
			break
		}
		params.From = new(step.To + 1)
		if c.interactive() && time.Since(told) > 2*time.Second {
			told = time.Now()
			fmt.Fprintf(c.stderr, "verified up to %d of %d\n", step.To, step.Head.Seq)
		}
	}
	h.end(v)
	v.Faults = append(v.Faults, h.faults...)
	v.Intact = v.Intact && len(v.Faults) == 0
	return v, nil
}

// end compares the last link with the end of the chain that etcd holds.
func (h *chain) end(v *verdict) {
	// A restored etcd ends before them until an operator has accepted the restore; the server reports that.
	forgotten := v.Restored != nil && v.Restored.From == v.Head.Seq+1 && v.Restored.To == h.last.Seq
	if v.Waiting == 0 && h.known && !forgotten && (h.last.Seq != v.Head.Seq || h.last.Hash != v.Head.Hash) {
		h.fault(h.last.Seq, "", "end", "the chain ends at %d, but its head in etcd is %d", h.last.Seq, v.Head.Seq)
	}
	if h.anchor.Seq > 0 && !h.met {
		h.fault(h.anchor.Seq, "", "missing",
			"anchor not found: it is older than the verified or kept entries, or the chain was shortened")
	}
}

func (c *cli) showVerdict(v *verdict) error {
	if c.structured() {
		if err := c.print(v); err != nil {
			return err
		}
	} else {
		for _, f := range v.Faults {
			fmt.Fprintln(c.stdout, oneLine(fmt.Sprintf("%s at %d %s: %s", f.Code, f.Seq, value(f.Id), f.Text)))
		}
		state := "the chain is intact"
		if !v.Intact {
			state = "the chain is NOT intact"
		}
		span := "no entry is sealed yet"
		if v.Checked > 0 {
			span = fmt.Sprintf("verified %s, from %d to %d", common.Count(v.Checked, "entry", "entries"), v.From, v.To)
		}
		fmt.Fprintf(c.stdout, "%s: %s\n", state, span)
		if v.Restored != nil {
			fmt.Fprintf(c.stdout, "etcd had forgotten entries %d to %d when it was restored: "+
				"compare them with an anchor or the master's log\n", v.Restored.From, v.Restored.To)
		}
		if v.Waiting > 0 {
			fmt.Fprintf(c.stdout, "%s on the way to the log store\n",
				common.Count(v.Waiting, "more entry is", "more entries are"))
		}
		if v.Head.Seq > 0 {
			fmt.Fprintf(c.stdout, "head of the chain: %d:%s\n", v.Head.Seq, v.Head.Hash)
		}
	}
	if !v.Intact {
		return exitError(exitJobFailed)
	}
	return nil
}
