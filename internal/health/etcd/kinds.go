package etcd

import (
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/hooks"
	"carillon/internal/maintenance"
	"carillon/internal/notify"
)

// recordKind is a kind of stored values. decode accepts the values that the readers of the kind accept.
type recordKind struct {
	name, prefix string
	decode       func(*mvccpb.KeyValue) error
	// advice is how to proceed with values that are not deleted here, with NAME for the key after the prefix; "" if
	// they are.
	advice string
	// with returns a key that is deleted with the value; nil: none. It gets the key after the prefix.
	with func(id string) string
}

const (
	kindJob = "job"

	// adviseOutcome is about values from which the only outcome of a fire is made.
	adviseOutcome = "The outcome of a fire depends on it. If a newer version wrote it, upgrade; otherwise write its " +
		"value of a backup with etcdctl put. The last resort is etcdctl del: its fire may then have no entry in the " +
		"ledger."
)

var (
	errOtherKey = errors.New("it belongs to another key")
	errCursor   = errors.New("the cursor is missing or invalid")
	errStatus   = errors.New("it is not an outcome")
)

// recordKinds are the kinds that are examined: first those that are deleted here. Values that their reader replaces
// are not among them, such as the notification states of jobs, nor are those under a lease, which ends.
var recordKinds = []recordKind{
	{name: "worker_settings", prefix: common.WorkerSettingsPrefix, decode: valueOf[common.WorkerSettings](nil)},
	{
		name:   "channel",
		prefix: common.ChannelsPrefix,
		decode: valueOf(func(c *notify.Channel) string { return common.ChannelKey(c.Name) }),
	},
	{
		name:   "maintenance",
		prefix: common.WindowsPrefix,
		decode: valueOf(func(w *maintenance.Window) string { return common.WindowKey(w.Name) }),
	},
	{
		name:   "pool",
		prefix: common.PoolsPrefix,
		decode: valueOf(func(p *common.Pool) string { return common.PoolKey(p.Name) }),
	},
	{
		name:   "defaults",
		prefix: common.DefaultsPrefix,
		decode: valueOf(func(d *common.GroupDefaults) string { return common.DefaultsKey(d.Group) }),
	},
	{
		name:   "secret",
		prefix: common.SecretsPrefix,
		decode: valueOf(func(s *struct {
			common.Secret
			Sealed string `json:"sealed"`
		}) string {
			return common.SecretKey(s.Name)
		}),
	},
	{name: "view", prefix: common.ViewsPrefix, decode: decodeView},
	{
		name:   "hook",
		prefix: common.HooksPrefix,
		decode: valueOf(func(h *hooks.Hook) string { return common.HookKey(h.JobUID, h.Name) }),
	},
	{
		name:   "user",
		prefix: common.UsersPrefix,
		decode: valueOf(func(u *access.UserRecord) string { return common.UserKey(u.Name) }),
	},
	{
		name:   "token",
		prefix: common.TokensPrefix,
		decode: valueOf(func(t *access.TokenRecord) string { return common.TokenKey(t.ID) }),
		with:   common.TokenUseKey,
	},
	{
		name:   "notification",
		prefix: common.WaitingNoticesPrefix,
		decode: valueOf(func(n *notify.Notice) string { return common.WaitingNoticeKey(n.ID) }),
	},
	{
		name:   "notification",
		prefix: common.DoneNoticesPrefix,
		decode: valueOf(func(n *notify.Notice) string { return common.DoneNoticeKey(n.ID) }),
	},

	{
		name:   kindJob,
		prefix: common.JobsPrefix,
		decode: valueOf(func(j *common.StoredJob) string { return common.JobKey(j.Name) }),
		advice: "Define the job again, or delete it: cronctl delete job NAME",
	},
	{
		name:   "run",
		prefix: common.RunsPrefix,
		decode: valueOf(func(r *common.Record) string { return common.RecordKey(r.Job, r.Run) }),
		advice: adviseOutcome,
	},
	{name: "outcome", prefix: common.OutboxPrefix, decode: decodeOutcome, advice: adviseOutcome},
	{
		name:   "trigger",
		prefix: common.TriggersPrefix,
		decode: valueOf(func(t *common.Trigger) string { return common.TriggerKey(t.Job, t.ID) }),
		advice: adviseOutcome,
	},
	{
		name:   "flow_run",
		prefix: common.FlowRunsPrefix,
		decode: valueOf(func(h *common.Head) string { return common.FlowRunKey(h.Job, h.Run) }),
		advice: adviseOutcome,
	},
	{name: "flow_node", prefix: common.FlowNodesPrefix, decode: valueOf[common.Node](nil), advice: adviseOutcome},
	{
		name:   "approval",
		prefix: common.FlowWaitsPrefix,
		decode: valueOf(func(w *common.FlowWait) string {
			return common.FlowWaitKey(w.Flow.Job, w.Flow.Run, w.Flow.Node)
		}),
		advice: adviseOutcome,
	},
	{
		name:   "after",
		prefix: common.AfterPrefix,
		decode: valueOf[common.After](nil),
		advice: "It keeps the job from running twice after one success. Write the value of a backup with etcdctl " +
			"put, or delete the job and create it again: cronctl delete job NAME",
	},
	{
		name:   "success",
		prefix: common.SucceededPrefix,
		decode: valueOf[common.Success](nil),
		advice: "The next success of the job replaces it: cronctl run NAME",
	},
	{
		name:   "lock",
		prefix: common.LocksPrefix,
		decode: decodeLock,
		advice: "Delete the key with etcdctl del once no client uses the lock.",
	},
}

// adviceFor returns the advice about a value.
func (k *recordKind) adviceFor(key string) string {
	return strings.Replace(k.advice, "NAME", common.Excerpt(strings.TrimPrefix(key, k.prefix)), 1)
}

// recordKindOf returns the kind of a key.
func recordKindOf(key string) (*recordKind, bool) {
	i := slices.IndexFunc(recordKinds, func(k recordKind) bool {
		return strings.HasPrefix(key, k.prefix) && key != k.prefix
	})
	if i < 0 {
		return nil, false
	}
	return &recordKinds[i], true
}

// valueOf returns the decoder of values that determine their own key; keyOf is nil for others.
func valueOf[T any](keyOf func(*T) string) func(*mvccpb.KeyValue) error {
	return func(kv *mvccpb.KeyValue) error {
		v, err := common.Decode[T](kv.Value)
		if err == nil && keyOf != nil && keyOf(&v) != string(kv.Key) {
			err = errOtherKey
		}
		return err
	}
}

func decodeView(kv *mvccpb.KeyValue) error {
	owner, _, err := common.SplitKey(common.ViewsPrefix, string(kv.Key))
	if err != nil {
		return errOtherKey
	}
	return valueOf(func(v *common.View) string { return common.ViewKey(owner, v.ID) })(kv)
}

// decodeOutcome accepts outcomes and notes of late ends.
func decodeOutcome(kv *mvccpb.KeyValue) error {
	worker, _, err := common.SplitKey(common.OutboxPrefix, string(kv.Key))
	if err != nil {
		return errOtherKey
	}
	if common.IsLateKey(string(kv.Key)) {
		return valueOf(func(l *common.LateEnd) string { return common.LateKey(worker, l.Run) })(kv)
	}
	if err := valueOf(func(r *common.Run) string { return common.OutboxKey(worker, r.ID) })(kv); err != nil {
		return err
	}
	run, err := common.Decode[common.Run](kv.Value)
	if err == nil && (!slices.Contains(common.Statuses[:], run.Status) || !run.Status.Terminal()) {
		err = errStatus
	}
	return err
}

// decodeLock accepts the holders and owners of named locks, and the places in their queues.
func decodeLock(kv *mvccpb.KeyValue) error {
	_, part, ok := common.ParseLockKey(string(kv.Key))
	switch {
	case !ok:
		return errOtherKey
	case part == "holder":
		return valueOf[common.LockHolder](nil)(kv)
	case part == "owner":
		return valueOf[common.LockOwner](nil)(kv)
	}
	return valueOf[common.LockWaiter](nil)(kv)
}
