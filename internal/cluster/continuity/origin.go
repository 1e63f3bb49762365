package continuity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/platform/wallclock"
)

// Origin detects a restore of etcd from a backup: a state that does not continue the state seen before. After a
// restore nothing is claimed and no cursor moves until an operator accepts the data (common.EpochKey).
type Origin struct {
	Lineage *etcdkit.Lineage

	path   string // path of the file; empty: nothing is remembered
	log    *slog.Logger
	denied sync.Once
}

const (
	originFile = "etcd.json"
	// lookBackEvery is the interval at which etcd is asked without other requests, and keepOriginEvery that at
	// which its answer is stored.
	lookBackEvery   = 2 * time.Second
	keepOriginEvery = 10 * time.Second
	originLimit     = 2 * time.Second
)

// OpenOrigin reads the state of etcd that an earlier start with this data folder saw. An unreadable file counts
// as missing.
func OpenOrigin(dir string, log *slog.Logger) *Origin {
	path := filepath.Join(dir, originFile)
	seen := readFile[etcdkit.Seen](path, log, "etcd_file_unreadable")
	return &Origin{path: path, log: log, Lineage: etcdkit.NewLineage(seen, wallclock.Now)}
}

// NewOrigin creates an Origin without the state of earlier starts.
func NewOrigin(log *slog.Logger) *Origin {
	return &Origin{Lineage: etcdkit.NewLineage(etcdkit.Seen{}, wallclock.Now), log: log}
}

// WentBack returns a check for why nothing may be claimed or resolved, and no cursor moved: this process or one of the
// workers has noticed a restore. The check returns nil if there was none.
func (o *Origin) WentBack(workers func() []common.Member) func() error {
	return func() error {
		_, why := o.Lineage.Seen()
		for _, w := range workers() {
			if why == "" && slices.ContainsFunc(w.Conditions, func(c common.Condition) bool {
				return c.Code == common.ConditionEtcdWentBack
			}) {
				why = "worker " + common.Excerpt(cmp.Or(w.Name, w.Worker)) + " noticed it"
			}
		}
		if why == "" {
			return nil
		}
		return &common.Error{Code: common.CodeUnavailable, Reason: common.ConditionEtcdWentBack,
			Message: "etcd was restored from a backup: " + why, Hint: "follow docs/backup.md, then run cronctl recover"}
	}
}

// Conditions reports a restored etcd.
func (o *Origin) Conditions() []common.Condition {
	_, why := o.Lineage.Seen()
	if why == "" {
		return nil
	}
	return []common.Condition{{Code: common.ConditionEtcdWentBack, StopsClaims: true, Data: common.Words{"why": why},
		Text: "etcd was restored from a backup, " + why + ": nothing is claimed until cronctl recover"}}
}

// First asks etcd until it answers: a restore must be detected before anything is claimed.
func (o *Origin) First(client *clientv3.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		for o.read(ctx, client) != nil {
			if !etcdkit.Sleep(ctx, lookBackEvery) {
				return context.Cause(ctx)
			}
		}
		return nil
	}
}

// read asks etcd, and starts from its answer if an operator has accepted it since etcd was last seen.
func (o *Origin) read(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, originLimit)
	defer cancel()
	asked := o.Lineage.Ask()
	resp, err := client.Get(ctx, common.EpochKey)
	if errors.Is(err,
		rpctypes.ErrPermissionDenied) { // permissions of an older etcd-users.sh: a restore is detected all the same
		o.denied.Do(func() {
			o.log.Warn("epoch_unreadable", "key", common.EpochKey, "hint", "run deploy/etcd-users.sh worker again")
		})
		resp, err = client.Get(ctx, common.JobsPrefix)
	}
	if err != nil {
		return err
	}
	o.Lineage.Answered(resp.Header, asked) // an in-process client does not report its answers
	seen, why := o.Lineage.Seen()
	if why == "" {
		return nil
	}
	for _, kv := range resp.Kvs {
		epoch, err := common.Decode[common.Epoch](kv.Value)
		if err != nil || !epoch.At.After(seen.At) {
			continue // it is from before, or from before the backup
		}
		o.log.Warn("etcd_accepted", "epoch", epoch.ID, "by", epoch.By)
		o.Lineage.Accept()
		o.Lineage.Answered(resp.Header, o.Lineage.Ask())
	}
	return nil
}

// Keep repeats read and stores the result until the context ends.
func (o *Origin) Keep(client *clientv3.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		var kept time.Time
		var written etcdkit.Seen
		for {
			if err := o.read(ctx, client); err != nil && ctx.Err() == nil {
				o.log.Debug("etcd_not_seen", "error", err)
			}
			seen, why := o.Lineage.Seen()
			if o.path != "" && why == "" && seen != written && time.Since(kept) >= keepOriginEvery {
				if err := replaceFile(o.path, seen); err != nil {
					o.log.Warn("etcd_not_remembered", "error", err)
				}
				kept, written = time.Now(), seen
			}
			if !etcdkit.Sleep(ctx, lookBackEvery) {
				return nil
			}
		}
	}
}
