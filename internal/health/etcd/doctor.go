package etcd

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/etcdkit"
	"carillon/internal/health"
)

const (
	examineLimit = 5 * time.Second
	// skewWarns is the tolerated clock skew.
	skewWarns = time.Second
	// lagWarns is the tolerated silence of a watch, which etcd confirms every few seconds.
	lagWarns = 20 * time.Second
	// Numbers of outcomes waiting for the log store.
	waitingWarns = 10_000
)

// Examine runs all checks concurrently; the findings are sorted in the order in which to read them.
func (s *State) Examine(ctx context.Context) health.Examination {
	ctx, cancel := context.WithTimeout(ctx, examineLimit)
	defer cancel()
	var records []health.Record
	values := func(ctx context.Context) (found []health.Finding) {
		found, records = s.undecodable(ctx)
		return found
	}
	checks := []func(context.Context) []health.Finding{s.etcd, s.clocks, s.watch, s.logStore, s.certificatesInUse,
		s.staff, s.versions, s.leader, s.locks, s.tokens, values, s.others}
	found := make([][]health.Finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { found[i] = check(ctx) })
	}
	all.Wait()
	result := health.Examination{
		At:       s.cfg.Now().UTC(),
		Master:   s.cfg.Host,
		Version:  s.cfg.Version,
		Findings: slices.Concat(found...),
		Records:  records,
	}
	result.Status = health.Worst(result.Findings)
	return result
}

// etcd checks each member: availability, response time, version, space, leader.
func (s *State) etcd(ctx context.Context) []health.Finding {
	client := s.cfg.Client
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // etcd in this process
	}
	found := make([][]health.Finding, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookLimit)
			defer cancel()
			began := time.Now()
			status, err := client.Status(ctx, endpoint)
			who := cmp.Or(endpoint, "in this process")
			if err != nil {
				found[i] = []health.Finding{health.Fault(health.FindingFailing, "etcd", who, health.AdviseEtcd,
					"it does not respond: %s", common.Excerpt(err.Error()))}
				return
			}
			found[i] = judgeEtcd(who, status, time.Since(began))
		})
	}
	asked.Wait()
	all := slices.Concat(found...)
	if err := s.cfg.Probe.Latest().Etcd; err != nil {
		all = append(all, health.Fault(health.FindingFailing, "etcd", "",
			health.AdviseEtcd+" If it uses a user and password, "+
				"check that they are valid.",
			"this master cannot read from etcd: %s", common.Excerpt(err.Error())))
	}
	return all
}

// judgeEtcd returns the findings of a member's status.
func judgeEtcd(who string, status *clientv3.StatusResponse, took time.Duration) []health.Finding {
	member := health.EtcdMember{
		Name:         who,
		Took:         took,
		Leader:       status.Leader != 0,
		Learner:      status.IsLearner,
		Version:      status.Version,
		VersionFault: etcdkit.VersionFault(status.Version),
		Size:         status.DbSize,
		Used:         status.DbSizeInUse,
		Quota:        status.DbSizeQuota,
		Alarms:       status.Errors,
	}
	return member.Findings()
}

// locks reports that fencing tokens may be lower than those before a restore of etcd: they are revisions.
func (s *State) locks(ctx context.Context) []health.Finding {
	if !s.Restored() {
		return nil
	}
	keys, err := etcdkit.Count(ctx, s.cfg.Client, common.LocksPrefix)
	if err != nil || keys == 0 {
		return nil // that etcd does not respond is a finding of its own
	}
	return []health.Finding{health.Fault(health.FindingWarning, "lock", "", health.AdviseTokens,
		"fencing tokens of named locks may be lower than those before the restore of etcd")}
}

// clocks compares the clocks of all members with this master's.
func (s *State) clocks(context.Context) []health.Finding {
	verdict, snapshot := s.cfg.Guard.Judge(), s.cfg.Members.Snapshot()
	var all []health.Finding
	if verdict.Stop || verdict.Disagree {
		all = append(all, health.Fault(health.FindingFailing, "clock", "", health.AdviseClock, "%s", verdict.Reason))
	}
	votes := snapshot.Votes(s.cfg.ID, s.cfg.Now(), time.Now())
	for _, v := range votes {
		if v.Ahead.Abs() >= skewWarns {
			all = append(all,
				health.Fault(health.FindingWarning, "clock", v.Who, health.AdviseClock,
					"its clock differs from this master's by %v", v.Ahead.Round(time.Millisecond)))
		}
	}
	switch {
	case len(all) > 0:
	case len(votes) == 0:
		all = append(all, health.OK("clock", "", "no other clock to compare this master's with"))
	default:
		all = append(all, health.OK("clock", "", "%s with this master's within a second",
			common.Count(len(votes), "clock agrees", "clocks agree")))
	}
	return all
}

// watch reports the age of this master's data about jobs.
func (s *State) watch(context.Context) []health.Finding {
	const advice = "This master receives nothing from etcd. Check the network between them; the watch is retried " +
		"automatically."
	switch lag := s.cfg.Catalog.Lag(); {
	case s.cfg.Catalog.Fault() != nil:
		return []health.Finding{health.Fault(health.FindingFailing, "watch", "", advice, "%s", s.cfg.Catalog.Fault())}
	case lag > lagWarns:
		return []health.Finding{health.Fault(health.FindingWarning, "watch", "", advice,
			"no confirmation from the watch of jobs for %v", lag.Round(time.Second))}
	default:
		return []health.Finding{health.OK("watch", "", "watch of jobs confirmed %v ago", lag.Round(time.Millisecond))}
	}
}

func outcomesAre(n int64) string { return common.Count(n, "outcome is", "outcomes are") }

func changesAre(n int64) string { return common.Count(n, "change is", "changes are") }

// logStore pings the log store and counts the backlog for it.
func (s *State) logStore(ctx context.Context) []health.Finding {
	const advice = "Check that it runs, and read its log. Nothing is lost in the meantime: outcomes are kept in " +
		"etcd, output on the workers' disks."
	began := time.Now()
	pinging, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	err := s.cfg.Probe.store.Ping(pinging)
	took := time.Since(began)
	var all []health.Finding
	switch {
	case err != nil:
		all = append(all,
			health.Fault(health.FindingFailing, "log_store", "", advice, "it does not respond: %s",
				common.Excerpt(err.Error())))
	case took > health.SlowAnswer:
		all = append(all,
			health.Fault(health.FindingWarning, "log_store", "", "Check its load and its disk.", "response time %v",
				took.Round(time.Millisecond)))
	default:
		all = append(all, health.OK("log_store", "", "response time %v", health.Within(took)))
	}
	resp, err := s.cfg.Client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly(),
		clientv3.WithSerializable())
	switch {
	case err != nil:
		all = append(all,
			health.Fault(health.FindingUnknown, "outbox", "", "",
				"the backlog for the log store cannot be counted while etcd does not respond"))
	case resp.Count >= waitingWarns:
		all = append(all,
			health.Fault(health.FindingWarning, "outbox", "", "Check the disk and the load of the log store.",
				"%s waiting in etcd for the log store", outcomesAre(resp.Count)))
	default:
		all = append(all, health.OK("outbox", "", "%s waiting in etcd for the log store", outcomesAre(resp.Count)))
	}
	switch count, full := s.cfg.Probe.backlog.Waiting(); {
	case full:
		all = append(all,
			health.Fault(health.FindingFailing, "changes", "", advice,
				"%s waiting in etcd for the log store: jobs cannot be saved until it accepts them",
				changesAre(count)))
	case count >= waitingWarns:
		all = append(all,
			health.Fault(health.FindingWarning, "changes", "",
				"Check the disk and the load of the log store, and that a master is elected.",
				"%s waiting in etcd for the log store", changesAre(count)))
	default:
		all = append(all, health.OK("changes", "", "%s waiting in etcd for the log store", changesAre(count)))
	}
	return all
}

// certificatesInUse reports the remaining validity of each certificate.
func (s *State) certificatesInUse(context.Context) []health.Finding {
	var all []health.Finding
	for _, keeper := range s.cfg.Certificates.Keepers() {
		use, file, from, until := keeper.Shown()
		all = append(all, health.Certificate(use+", "+file, until.Sub(from), until.Sub(s.cfg.Now()), until))
	}
	return all
}

// leader reports the elected master.
func (s *State) leader(context.Context) []health.Finding {
	if holder, elected := s.cfg.Elector.Leader(); elected {
		return []health.Finding{health.OK("elected", "", "master %s, since %s", holder.Name,
			holder.Since.UTC().Format("2006-01-02 15:04 UTC"))}
	}
	return []health.Finding{health.Fault(health.FindingFailing, "elected", "",
		"One should be elected within a minute. If not, check that the masters reach etcd, and read their logs.",
		"no master is elected: housekeeping, the audit chain and notifications are stopped")}
}

// staff checks the workers.
func (s *State) staff(ctx context.Context) []health.Finding {
	members, err := s.cfg.Workers.Workers(ctx)
	if err != nil {
		return []health.Finding{health.Fault(health.FindingUnknown, "workers", "", "",
			"workers cannot be listed while etcd does not respond")}
	}
	return append(health.Workers(members), s.daemons(ctx, members)...)
}

// tokens compares the tokens with the audit.
func (s *State) tokens(ctx context.Context) []health.Finding {
	if s.cfg.Unaudited == nil {
		return nil
	}
	return health.Tokens(s.cfg.Unaudited(ctx))
}

// missedWithin is how far back the doctor looks for missed fires.
const missedWithin = time.Hour

// daemons reports workers that are full of daemons while fires are missed. Without the log store, which has a finding
// of its own, the missed fires are unknown.
func (s *State) daemons(ctx context.Context, members []common.Member) []health.Finding {
	if s.cfg.Missed == nil {
		return nil
	}
	missed, err := s.cfg.Missed(ctx, s.cfg.Now().Add(-missedWithin))
	if err != nil {
		return nil
	}
	return health.Daemons(members, missed, "the last hour")
}

// versions compares the versions of all masters and workers, and of their time zones.
func (s *State) versions(context.Context) []health.Finding {
	snapshot := s.cfg.Members.Snapshot()
	masters := make([]common.MasterPresence, len(snapshot.Masters))
	for i := range masters {
		masters[i] = snapshot.Masters[i].MasterPresence
	}
	return append(health.Versions(s.cfg.Version, masters, snapshot.Members),
		health.ZoneData(zoneinfo.Version(), masters, snapshot.Members)...)
}

// others reports active conditions that no other check covers.
func (s *State) others(context.Context) []health.Finding {
	return health.Remedies(s.Conditions())
}
