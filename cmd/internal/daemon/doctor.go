package daemon

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/httpapi/system"
)

// doctor checks everything that a cluster depends on, for each request again.
type doctor struct {
	state   state
	workers interface {
		Workers(ctx context.Context) ([]common.Member, error)
	}
	host         string // host of this master
	version      string
	certificates *Certificates
}

const (
	examineLimit = 5 * time.Second
	// slowAnswer is the response time of etcd and of the log store from which they count as slow.
	slowAnswer = 500 * time.Millisecond
	// defaultQuota is etcd's quota if none is configured. Before version 3.6 a server does not report its
	// quota.
	defaultQuota = 2 << 30
	// Shares of the quota, in percent.
	spaceWarns, spaceFails = 70, 90
	// skewWarns is the tolerated clock skew.
	skewWarns = time.Second
	// lagWarns is the tolerated silence of a watch, which etcd confirms every few seconds.
	lagWarns = 20 * time.Second
	// Numbers of outcomes waiting for the log store.
	waitingWarns = 10_000
	certWarns    = 14 * 24 * time.Hour
)

// Examine runs all checks concurrently; the findings are sorted in the order in which to read them.
func (d *doctor) Examine(ctx context.Context) system.Examination {
	ctx, cancel := context.WithTimeout(ctx, examineLimit)
	defer cancel()
	looks := []func(context.Context) []system.Finding{d.etcd, d.clocks, d.watch, d.logStore, d.certificatesInUse,
		d.staff, d.masters, d.leader, d.others}
	found := make([][]system.Finding, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { found[i] = look(ctx) })
	}
	all.Wait()
	result := system.Examination{
		At:       WallClock().UTC(),
		Master:   d.host,
		Version:  d.version,
		Findings: slices.Concat(found...),
	}
	result.Status = system.Worst(result.Findings)
	return result
}

func ok(check, who, text string, args ...any) system.Finding {
	return system.Finding{Check: check, Status: system.FindingOK, Who: who, Text: fmt.Sprintf(text, args...)}
}

func fault(status system.FindingStatus, check, who, advice, text string, args ...any) system.Finding {
	return system.Finding{Check: check, Status: status, Who: who, Text: fmt.Sprintf(text, args...), Advice: advice}
}

const (
	adviseEtcd    = "Check that etcd runs and that this master can reach it: etcdctl endpoint status, and etcd's log."
	adviseVersion = "Upgrade etcd, one member after the other: older versions allow a worker's user more than its " +
		"role permits."
	adviseSpace = "Compact etcd's history (--auto-compaction-retention=1h), then defragment it, one member after " +
		"the other: etcdctl defrag. Or increase --quota-backend-bytes."
	adviseNoSpace = "Free space (compact, then etcdctl defrag on each member), then disarm the alarm: etcdctl alarm " +
		"disarm."
	adviseCert = "Replace the certificate file: it is loaded without a restart. A timer should renew it (certbot, " +
		"step, cert-manager)."
	adviseClock = "Synchronise the clocks of all machines with NTP: timedatectl set-ntp true, or chrony."
)

// etcd checks each member: availability, response time, version, space, leader.
func (d *doctor) etcd(ctx context.Context) []system.Finding {
	client := d.state.etcd
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // etcd in this process
	}
	found := make([][]system.Finding, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookLimit)
			defer cancel()
			began := time.Now()
			status, err := client.Status(ctx, endpoint)
			who := cmp.Or(endpoint, "in this process")
			if err != nil {
				found[i] = []system.Finding{fault(system.FindingFailing, "etcd", who, adviseEtcd,
					"it does not respond: %s", common.Excerpt(err.Error()))}
				return
			}
			found[i] = judgeEtcd(who, status, time.Since(began))
		})
	}
	asked.Wait()
	all := slices.Concat(found...)
	if err := d.state.latest().etcd; err != nil {
		all = append(all, fault(system.FindingFailing, "etcd", "", adviseEtcd+" If it uses a user and password, "+
			"check that they are valid.",
			"this master cannot read from etcd: %s", common.Excerpt(err.Error())))
	}
	return all
}

// judgeEtcd returns the findings of a member's status.
func judgeEtcd(who string, s *clientv3.StatusResponse, took time.Duration) []system.Finding {
	var all []system.Finding
	switch {
	case s.Leader == 0:
		all = append(all,
			fault(system.FindingFailing, "etcd", who,
				"Check that a majority of etcd's members run and reach each other.", "it has no leader: writes fail"))
	case s.IsLearner:
		all = append(all,
			fault(system.FindingWarning, "etcd", who,
				"Promote it (etcdctl member promote), or remove it from etcd.endpoints.",
				"it is a learner, which accepts no writes"))
	case took > slowAnswer:
		all = append(all,
			fault(system.FindingWarning, "etcd", who,
				"Check its disk: etcd needs a dedicated one with fsync under 10 ms.", "response time %v",
				took.Round(time.Millisecond)))
	default:
		all = append(all, ok("etcd", who, "response time %v", within(took)))
	}
	if why := etcdkit.VersionFault(s.Version); why != "" {
		all = append(all, fault(system.FindingWarning, "etcd_version", who, adviseVersion, "%s", why))
	} else {
		all = append(all, ok("etcd_version", who, "%s", s.Version))
	}
	share := s.DbSize * 100 / cmp.Or(s.DbSizeQuota, defaultQuota)
	text := fmt.Sprintf("%s of %s allocated (%d %%), %s of it in use", size(s.DbSize), size(s.DbSizeQuota), share,
		size(s.DbSizeInUse))
	if s.DbSizeQuota == 0 {
		text = fmt.Sprintf("%s allocated, %s of it in use; this version does not report its quota", size(s.DbSize),
			size(s.DbSizeInUse))
		// More than the default means that a larger quota is configured.
		if share > 100 {
			share = 0
		} else if share >= spaceWarns {
			share, text = spaceWarns, text+"; the default quota is "+size(defaultQuota)
		}
	}
	switch {
	case slices.ContainsFunc(s.Errors, func(e string) bool { return strings.Contains(e, "NOSPACE") }):
		all = append(all,
			fault(system.FindingFailing, "etcd_space", who, adviseNoSpace, "it is full and refuses writes: %s", text))
	case share >= spaceFails:
		all = append(all, fault(system.FindingFailing, "etcd_space", who, adviseSpace, "%s", text))
	case share >= spaceWarns:
		all = append(all, fault(system.FindingWarning, "etcd_space", who, adviseSpace, "%s", text))
	default:
		all = append(all, ok("etcd_space", who, "%s", text))
	}
	for _, e := range s.Errors {
		if !strings.Contains(e, "NOSPACE") {
			all = append(all,
				fault(system.FindingFailing, "etcd", who,
					"List alarms with etcdctl alarm list, and read etcd's log.", "alarm active: %s", common.Excerpt(e)))
		}
	}
	return all
}

// within rounds a duration to milliseconds, at least one.
func within(took time.Duration) time.Duration {
	return max(took.Round(time.Millisecond), time.Millisecond)
}

// size formats bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// clocks compares the clocks of all members with this master's.
func (d *doctor) clocks(context.Context) []system.Finding {
	verdict, snapshot := d.state.guard.Judge(), d.state.members.Snapshot()
	var all []system.Finding
	if verdict.Stop || verdict.Disagree {
		all = append(all, fault(system.FindingFailing, "clock", "", adviseClock, "%s", verdict.Reason))
	}
	votes := snapshot.Votes(d.state.id, WallClock(), time.Now())
	for _, v := range votes {
		if v.Ahead.Abs() >= skewWarns {
			all = append(all,
				fault(system.FindingWarning, "clock", v.Who, adviseClock,
					"its clock differs from this master's by %v", v.Ahead.Round(time.Millisecond)))
		}
	}
	switch {
	case len(all) > 0:
	case len(votes) == 0:
		all = append(all, ok("clock", "", "no other clock to compare this master's with"))
	default:
		all = append(all, ok("clock", "", "%d clocks agree with this master's within a second", len(votes)))
	}
	return all
}

// watch reports the age of this master's data about jobs.
func (d *doctor) watch(context.Context) []system.Finding {
	const advice = "This master receives nothing from etcd. Check the network between them; the watch is retried " +
		"automatically."
	switch lag := d.state.fresh.lag(); {
	case d.state.fresh.fault() != nil:
		return []system.Finding{fault(system.FindingFailing, "watch", "", advice, "%s", d.state.fresh.fault())}
	case lag > lagWarns:
		return []system.Finding{fault(system.FindingWarning, "watch", "", advice,
			"no confirmation from the watch of jobs for %v", lag.Round(time.Second))}
	default:
		return []system.Finding{ok("watch", "", "watch of jobs confirmed %v ago", lag.Round(time.Millisecond))}
	}
}

// logStore pings the log store and counts the backlog for it.
func (d *doctor) logStore(ctx context.Context) []system.Finding {
	const advice = "Check that it runs, and read its log. Nothing is lost in the meantime: outcomes are kept in " +
		"etcd, output on the workers' disks."
	began := time.Now()
	pinging, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	err := d.state.store.Ping(pinging)
	took := time.Since(began)
	var all []system.Finding
	switch {
	case err != nil:
		all = append(all,
			fault(system.FindingFailing, "log_store", "", advice, "it does not respond: %s",
				common.Excerpt(err.Error())))
	case took > slowAnswer:
		all = append(all,
			fault(system.FindingWarning, "log_store", "", "Check its load and its disk.", "response time %v",
				took.Round(time.Millisecond)))
	default:
		all = append(all, ok("log_store", "", "response time %v", within(took)))
	}
	resp, err := d.state.etcd.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly(),
		clientv3.WithSerializable())
	switch {
	case err != nil:
		all = append(all,
			fault(system.FindingUnknown, "outbox", "", "",
				"the backlog for the log store cannot be counted while etcd does not respond"))
	case resp.Count >= waitingWarns:
		all = append(all,
			fault(system.FindingWarning, "outbox", "", "Check the disk and the load of the log store.",
				"%d outcomes are waiting in etcd for the log store", resp.Count))
	default:
		all = append(all, ok("outbox", "", "%d outcomes are waiting in etcd for the log store", resp.Count))
	}
	switch count, full := d.state.backlog.Waiting(); {
	case full:
		all = append(all,
			fault(system.FindingFailing, "changes", "", advice,
				"%d changes are waiting in etcd for the log store: jobs cannot be saved until it accepts them", count))
	case count >= waitingWarns:
		all = append(all,
			fault(system.FindingWarning, "changes", "",
				"Check the disk and the load of the log store, and that a master is elected.",
				"%d changes are waiting in etcd for the log store", count))
	default:
		all = append(all, ok("changes", "", "%d changes are waiting in etcd for the log store", count))
	}
	return all
}

// certificatesInUse reports the remaining validity of each certificate.
func (d *doctor) certificatesInUse(context.Context) []system.Finding {
	var all []system.Finding
	for _, keeper := range d.certificates.all() {
		use, file, from, until := keeper.Shown()
		all = append(all, judgeCertificate(use+", "+file, until.Sub(from), until.Sub(WallClock()), until))
	}
	return all
}

// judgeCertificate warns when the smaller of two weeks and a fifth of the certificate's lifetime is left: a
// timer should have renewed it by then.
func judgeCertificate(who string, life, left time.Duration, until time.Time) system.Finding {
	at, warns := until.UTC().Format("2006-01-02 15:04 UTC"), min(certWarns, life/5)
	switch {
	case left <= 0:
		return fault(system.FindingFailing, "certificate", who, adviseCert, "expired at %s", at)
	case left < warns/5:
		return fault(system.FindingFailing, "certificate", who, adviseCert, "expires in %v, at %s",
			left.Round(time.Minute), at)
	case left < warns:
		return fault(system.FindingWarning, "certificate", who, adviseCert, "expires in %d days, at %s",
			int(left.Hours()/24), at)
	}
	return ok("certificate", who, "valid until %s", at)
}

// staff checks the workers.
func (d *doctor) staff(ctx context.Context) []system.Finding {
	members, err := d.workers.Workers(ctx)
	if err != nil {
		return []system.Finding{fault(system.FindingUnknown, "workers", "", "",
			"workers cannot be listed while etcd does not respond")}
	}
	var all []system.Finding
	alive, slots, used, draining := 0, 0, 0, 0
	for i := range members {
		m := &members[i]
		name := cmp.Or(m.Name, m.Worker)
		switch {
		case m.Lease == 0:
			all = append(all, fault(system.FindingWarning, "worker", name,
				"Start it again. If it will not return, delete its settings: cronctl undrain "+m.Worker+
					"; cronctl set worker "+m.Worker+" --reset slots,weight,labels",
				"it is not running, but has settings"))
			continue
		case m.Draining || m.Settings.Drain:
			draining++
		case m.Trouble != "":
			all = append(all,
				fault(system.FindingFailing, "worker", name,
					"It accepts runs again automatically when the condition ends.", "it accepts no runs: %s",
					m.Trouble))
		}
		alive, slots, used = alive+1, slots+m.EffectiveSlots(), used+m.Used
	}
	text := fmt.Sprintf("%d alive, %d of %d slots used", alive, used, slots)
	if draining > 0 {
		text += fmt.Sprintf(", %d draining", draining)
	}
	switch {
	case alive == 0:
		return append([]system.Finding{fault(system.FindingFailing, "workers", "",
			"Start carillon-worker on at least one machine.", "no worker is alive: no job runs")}, all...)
	case alive == draining:
		return append([]system.Finding{fault(system.FindingFailing, "workers", "",
			"End the drain of a worker: cronctl undrain WORKER.",
			"all workers are draining: no new run starts")}, all...)
	case used >= slots:
		return append([]system.Finding{fault(system.FindingWarning, "workers", "",
			"Start more workers, or give them more slots: cronctl set worker WORKER --slots N.",
			"all slots are in use and due fires are waiting: %s", text)}, all...)
	}
	return append([]system.Finding{ok("workers", "", "%s", text)}, all...)
}

// masters compares the versions of all masters and workers.
func (d *doctor) masters(context.Context) []system.Finding {
	snapshot := d.state.members.Snapshot()
	apart := map[string][]string{}
	masters := 0
	for i := range snapshot.Masters {
		m := &snapshot.Masters[i]
		if masters++; m.Version != d.version {
			apart[m.Version] = append(apart[m.Version], "master "+m.Host)
		}
	}
	for i := range snapshot.Members {
		if m := &snapshot.Members[i]; m.Version != d.version {
			apart[m.Version] = append(apart[m.Version], "worker "+cmp.Or(m.Name, m.Worker))
		}
	}
	if len(apart) == 0 {
		return []system.Finding{ok("versions", "", "%d masters and %d workers have version %s", masters,
			len(snapshot.Members), d.version)}
	}
	var all []system.Finding
	for _, version := range slices.Sorted(maps.Keys(apart)) {
		who := apart[version]
		slices.Sort(who)
		all = append(all, fault(system.FindingWarning, "versions", "",
			"Complete the rolling upgrade: upgrade the older processes.",
			"this master has version %s; version %s: %s", d.version, cmp.Or(version,
				"(unknown)"), common.Excerpt(strings.Join(who, ", "))))
	}
	return all
}

// leader reports the elected master.
func (d *doctor) leader(context.Context) []system.Finding {
	if holder, elected := d.state.elector.Leader(); elected {
		return []system.Finding{ok("elected", "", "master %s, since %s", holder.Name,
			holder.Since.UTC().Format("2006-01-02 15:04 UTC"))}
	}
	return []system.Finding{fault(system.FindingFailing, "elected", "",
		"One should be elected within a minute. If not, check that the masters reach etcd, and read their logs.",
		"no master is elected: housekeeping, the audit chain and notifications are stopped")}
}

// others reports active conditions that no other check covers.
func (d *doctor) others(context.Context) []system.Finding {
	var all []system.Finding
	for _, c := range d.state.Conditions() {
		cure, known := cures[c.Code]
		if known && cure.seen {
			continue
		}
		status := system.FindingWarning
		if cure.fails || c.StopsClaims {
			status = system.FindingFailing
		}
		f := fault(status, cmp.Or(cure.check, c.Code), c.Who, cure.advice, "%s", c.Text)
		f.Data = c.Data
		all = append(all, f)
	}
	for _, check := range []string{"jobs", "audit", "notifications", "housekeeping"} {
		if !slices.ContainsFunc(all, func(f system.Finding) bool { return f.Check == check }) {
			all = append(all, ok(check, "", "no active problem"))
		}
	}
	return all
}

// cure is the remedy for a condition.
type cure struct {
	check  string
	advice string
	fails  bool
	seen   bool // covered by a check of its own
}

var cures = map[string]cure{
	common.ConditionEtcdAway: {seen: true},
	common.ConditionEtcdFull: {seen: true},
	common.ConditionLogStoreAway: {
		check: "log_store",
		fails: true,
		advice: "Check that the reporting process can reach the log store. Nothing is lost in the meantime: outcomes " +
			"are kept in etcd, output on the worker's disk.",
	},
	common.ConditionOutboxFull: {
		check:  "outbox",
		fails:  true,
		advice: "Restore the log store: outcomes are then delivered automatically, and workers claim again.",
	},
	common.ConditionSpoolFull: {
		check:  "worker",
		fails:  true,
		advice: "Restore the log store, or increase the worker's spoolMax: the oldest output is being dropped.",
	},
	common.ConditionDiskFull: {
		check:  "worker",
		fails:  true,
		advice: "Free space on the worker's disk: it then accepts runs again automatically.",
	},
	common.ConditionClockOff: {check: "clock", fails: true, advice: adviseClock},
	common.ConditionWorkerLost: {
		check: "worker",
		advice: "Its runs are resolved automatically after lostAfter. Check the machine; start the worker again if " +
			"it is still needed.",
	},
	common.ConditionNoWorkers: {seen: true},
	common.ConditionWatchStale: {
		check: "watch",
		advice: "Check the permissions of this process in etcd, the network, and watch_interrupted in the log. The " +
			"watch is retried automatically.",
	},
	common.ConditionLoopStuck: {
		check: "loops",
		advice: "Check the error, the permissions of this process in etcd, and its log. The loop is retried " +
			"automatically.",
	},
	common.ConditionNoElectedMaster: {
		check: "masters",
		fails: true,
		advice: "Check the masters' logs for election_failed and duty_stuck, " +
			"and their permissions under /cron/leader/.",
	},
	common.ConditionUnreadable: {
		check: "jobs",
		fails: true,
		advice: "Read the key with etcdctl get: another program or a newer version wrote it. Define the job again, " +
			"or delete it.",
	},
	common.ConditionMissesFeature: {
		check: "versions",
		advice: "Upgrade the worker. For memoryMax and tasksMax give it a cgroup with the controllers memory and " +
			"pids, as " +
			"the supplied unit does. Until then other workers run those jobs.",
	},
	common.ConditionHousekeeping: {
		check:  "housekeeping",
		advice: "Check the elected master's log for housekeeping_failed; usually the log store refused a request.",
	},
	common.ConditionOverdue: {
		check: "jobs",
		fails: true,
		advice: "Find out why no worker claims them: cronctl describe job NAME lists the eligible workers, and why " +
			"others are not eligible.",
	},
	common.ConditionNoEntry: {
		check:  "jobs",
		fails:  true,
		advice: "This indicates a defect: keep the logs of masters and workers of that hour, and report it.",
	},
	common.ConditionCertificateEnds: {seen: true},
	common.ConditionCertificateBad: {
		check: "certificate",
		fails: true,
		advice: "Check that certificate and key match and are readable: the previous certificate stays in use until " +
			"then.",
	},
	common.ConditionChangesFull: {seen: true},
	common.ConditionAuditStuck: {
		check: "audit",
		fails: true,
		advice: "Check the elected master's log, and that the log store accepts writes. Changes are kept in etcd " +
			"until they are sealed; nothing is lost.",
	},
	common.ConditionAuditUnreadable: {
		check: "audit",
		advice: "List them: cronctl get audit --kind change --verb unreadable -o yaml. Find out what else writes to " +
			"etcd, or damaged it. " +
			"The condition ends 24 hours after the last one.",
	},
	common.ConditionClockUnproven: {check: "clock", fails: true, advice: adviseClock},
	common.ConditionCursorInFuture: {
		check:  "jobs",
		fails:  true,
		advice: "Correct the clocks, then repair the cursors: cronctl recover.",
	},
	common.ConditionEtcdWentBack: {
		check:  "etcd",
		fails:  true,
		advice: "Follow docs/backup.md, then accept the restored data: cronctl recover.",
	},
	common.ConditionCannotStart: {
		check: "worker",
		fails: true,
		advice: "Check the limits of the worker's machine and unit (LimitNOFILE, TasksMax, memory) and the disk of " +
			"its data folder: it accepts runs again when a probe succeeds.",
	},
	common.ConditionStartHangs: {
		check: "worker",
		advice: "Look for a file system that does not respond (df, findmnt) among those with the programs and " +
			"folders of its jobs.",
	},
	common.ConditionGuardianSilent: {
		check: "worker",
		advice: "Check the first of the worker's two processes on that host (ps): continue it if it is stopped or " +
			"traced, or restart the worker.",
	},
	common.ConditionRunAs: {
		check: "worker",
		advice: "Correct the worker's runAs file: it must be valid, owned by root, and writable by root only. Its " +
			"previous content applies until then.",
	},
	common.ConditionNotifyStuck: {
		check: "notifications",
		fails: true,
		advice: "Check the elected master's log for notices_interrupted. Nothing is lost: notifications continue " +
			"from the same position.",
	},
	common.ConditionNotifyBehind: {
		check: "notifications",
		advice: "Wait: outcomes that etcd has compacted are read from the log store, page by page. Check the log " +
			"store if that takes long.",
	},
	common.ConditionNotifyFailing: {
		check: "notifications",
		advice: "Check its responses: cronctl get deliveries --channel NAME -o wide; then test it: cronctl test " +
			"channel NAME.",
	},
}
