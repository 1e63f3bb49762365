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
	"carillon/internal/httpapi"
)

// doctor looks at all that a cluster depends on, anew for each who asks.
type doctor struct {
	state   state
	workers interface {
		Workers(ctx context.Context) ([]common.Member, error)
	}
	host         string // of this master
	version      string
	certificates *Certificates
}

const (
	examineLimit = 5 * time.Second
	// slowAnswer is how long etcd and the log store may take for a word.
	slowAnswer = 500 * time.Millisecond
	// defaultQuota is that of an etcd that was given none. Before 3.6 a server does not say which it has.
	defaultQuota = 2 << 30
	// Shares of the quota in percent.
	spaceWarns, spaceFails = 70, 90
	// skewWarns is how far off a clock may be.
	skewWarns = time.Second
	// lagWarns is how long the watch may be silent: it says every few seconds that it lives.
	lagWarns = 20 * time.Second
	// Outcomes that wait for the log store.
	waitingWarns = 10_000
	certWarns    = 14 * 24 * time.Hour
)

// Examine looks at everything at once; what was found comes in the order in which to look at it.
func (d *doctor) Examine(ctx context.Context) httpapi.Examination {
	ctx, cancel := context.WithTimeout(ctx, examineLimit)
	defer cancel()
	looks := []func(context.Context) []httpapi.Finding{d.etcd, d.clocks, d.watch, d.logStore, d.certificatesInUse, d.staff, d.masters, d.leader, d.others}
	found := make([][]httpapi.Finding, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { found[i] = look(ctx) })
	}
	all.Wait()
	result := httpapi.Examination{At: WallClock().UTC(), Master: d.host, Version: d.version, Findings: slices.Concat(found...)}
	result.Status = httpapi.Worst(result.Findings)
	return result
}

func ok(check, who, text string, args ...any) httpapi.Finding {
	return httpapi.Finding{Check: check, Status: httpapi.FindingOK, Who: who, Text: fmt.Sprintf(text, args...)}
}

func fault(status httpapi.FindingStatus, check, who, advice, text string, args ...any) httpapi.Finding {
	return httpapi.Finding{Check: check, Status: status, Who: who, Text: fmt.Sprintf(text, args...), Advice: advice}
}

const (
	adviseEtcd    = "Look whether it runs, and whether this master reaches it: etcdctl endpoint status, and etcd's log."
	adviseVersion = "Upgrade etcd, one member after the other: older ones let a worker's user read and do more than its role says."
	adviseSpace   = "Have etcd compact its history (--auto-compaction-retention=1h), then defragment it, one member after the other: etcdctl defrag. Or give it a larger --quota-backend-bytes."
	adviseNoSpace = "Make room (compact, then etcdctl defrag on each member), then take the alarm back: etcdctl alarm disarm."
	adviseCert    = "Put a new certificate into the file's place: it is taken up without a restart. A timer should renew it (certbot, step, cert-manager)."
	adviseClock   = "Set the clocks of all machines by NTP: timedatectl set-ntp true, or chrony."
)

// etcd looks at each member: whether it answers, how fast, its version, its space, its leader.
func (d *doctor) etcd(ctx context.Context) []httpapi.Finding {
	client := d.state.etcd
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // in this process
	}
	found := make([][]httpapi.Finding, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookLimit)
			defer cancel()
			began := time.Now()
			status, err := client.Status(ctx, endpoint)
			who := cmp.Or(endpoint, "in this process")
			if err != nil {
				found[i] = []httpapi.Finding{fault(httpapi.FindingFailing, "etcd", who, adviseEtcd, "it does not answer: %s", common.Excerpt(err.Error()))}
				return
			}
			found[i] = judgeEtcd(who, status, time.Since(began))
		})
	}
	asked.Wait()
	all := slices.Concat(found...)
	if err := d.state.sight().etcd; err != nil {
		all = append(all, fault(httpapi.FindingFailing, "etcd", "", adviseEtcd+" With a user and a password, look whether they still count.",
			"this master cannot read from etcd: %s", common.Excerpt(err.Error())))
	}
	return all
}

// judgeEtcd says what a member's answer means.
func judgeEtcd(who string, s *clientv3.StatusResponse, took time.Duration) []httpapi.Finding {
	var all []httpapi.Finding
	switch {
	case s.Leader == 0:
		all = append(all, fault(httpapi.FindingFailing, "etcd", who, "Look whether most members of etcd run and reach each other.", "it knows of no leader: nothing can be written"))
	case s.IsLearner:
		all = append(all, fault(httpapi.FindingWarning, "etcd", who, "Promote it (etcdctl member promote), or leave it out of etcd.endpoints.", "it is a learner, which serves no writes"))
	case took > slowAnswer:
		all = append(all, fault(httpapi.FindingWarning, "etcd", who, "Look at its disk: etcd wants one whose fsync takes under 10 ms, and shares with nobody.", "it took %v to answer", took.Round(time.Millisecond)))
	default:
		all = append(all, ok("etcd", who, "it answers within %v", within(took)))
	}
	if why := etcdkit.VersionFault(s.Version); why != "" {
		all = append(all, fault(httpapi.FindingWarning, "etcd_version", who, adviseVersion, "%s", why))
	} else {
		all = append(all, ok("etcd_version", who, "%s", s.Version))
	}
	share := s.DbSize * 100 / cmp.Or(s.DbSizeQuota, defaultQuota)
	text := fmt.Sprintf("%s of %s are taken (%d %%), %s of them in use", size(s.DbSize), size(s.DbSizeQuota), share, size(s.DbSizeInUse))
	if s.DbSizeQuota == 0 {
		text = fmt.Sprintf("%s are taken, %s of them in use; this version does not say what its quota is", size(s.DbSize), size(s.DbSizeInUse))
		// More than the default shows that it was given a larger one.
		if share > 100 {
			share = 0
		} else if share >= spaceWarns {
			share, text = spaceWarns, text+", and the default is "+size(defaultQuota)
		}
	}
	switch {
	case slices.ContainsFunc(s.Errors, func(e string) bool { return strings.Contains(e, "NOSPACE") }):
		all = append(all, fault(httpapi.FindingFailing, "etcd_space", who, adviseNoSpace, "it is full and takes no writes: %s", text))
	case share >= spaceFails:
		all = append(all, fault(httpapi.FindingFailing, "etcd_space", who, adviseSpace, "%s", text))
	case share >= spaceWarns:
		all = append(all, fault(httpapi.FindingWarning, "etcd_space", who, adviseSpace, "%s", text))
	default:
		all = append(all, ok("etcd_space", who, "%s", text))
	}
	for _, e := range s.Errors {
		if !strings.Contains(e, "NOSPACE") {
			all = append(all, fault(httpapi.FindingFailing, "etcd", who, "Look at etcd's log: etcdctl alarm list says what it is.", "it raises an alarm: %s", common.Excerpt(e)))
		}
	}
	return all
}

// within is a time in whole milliseconds, one at least.
func within(took time.Duration) time.Duration {
	return max(took.Round(time.Millisecond), time.Millisecond)
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// clocks compares everybody's with this master's.
func (d *doctor) clocks(context.Context) []httpapi.Finding {
	verdict, snapshot := d.state.guard.Judge(), d.state.members.Snapshot()
	var all []httpapi.Finding
	if verdict.Stop || verdict.Disagree {
		all = append(all, fault(httpapi.FindingFailing, "clock", "", adviseClock, "%s", verdict.Reason))
	}
	votes := snapshot.Votes(d.state.id, WallClock(), time.Now())
	for _, v := range votes {
		if v.Ahead.Abs() >= skewWarns {
			all = append(all, fault(httpapi.FindingWarning, "clock", v.Who, adviseClock, "its clock is %v off this master's", v.Ahead.Round(time.Millisecond)))
		}
	}
	switch {
	case len(all) > 0:
	case len(votes) == 0:
		all = append(all, ok("clock", "", "there is no other clock to compare this master's with"))
	default:
		all = append(all, ok("clock", "", "%d clocks were compared with this master's, and agree with it within a second", len(votes)))
	}
	return all
}

// watch tells how fresh what this master knows of the jobs is.
func (d *doctor) watch(context.Context) []httpapi.Finding {
	const advice = "This master hears nothing from etcd. Look at the network between them; it asks anew by itself."
	switch lag := d.state.fresh.lag(); {
	case d.state.fresh.fault() != nil:
		return []httpapi.Finding{fault(httpapi.FindingFailing, "watch", "", advice, "%s", d.state.fresh.fault())}
	case lag > lagWarns:
		return []httpapi.Finding{fault(httpapi.FindingWarning, "watch", "", advice, "nothing was heard of the jobs for %v", lag.Round(time.Second))}
	default:
		return []httpapi.Finding{ok("watch", "", "heard of the jobs %v ago", lag.Round(time.Millisecond))}
	}
}

// logStore asks the store for a sign of life, and counts what waits for it.
func (d *doctor) logStore(ctx context.Context) []httpapi.Finding {
	const advice = "Look whether it runs, and its log. Nothing is lost meanwhile: outcomes wait in etcd, and output on the workers' disks."
	began := time.Now()
	pinging, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	err := d.state.store.Ping(pinging)
	took := time.Since(began)
	var all []httpapi.Finding
	switch {
	case err != nil:
		all = append(all, fault(httpapi.FindingFailing, "log_store", "", advice, "it does not answer: %s", common.Excerpt(err.Error())))
	case took > slowAnswer:
		all = append(all, fault(httpapi.FindingWarning, "log_store", "", "Look at its load and its disk.", "it took %v to answer", took.Round(time.Millisecond)))
	default:
		all = append(all, ok("log_store", "", "it answers within %v", within(took)))
	}
	resp, err := d.state.etcd.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithSerializable())
	switch {
	case err != nil:
		all = append(all, fault(httpapi.FindingUnknown, "outbox", "", "", "what waits for the log store cannot be counted while etcd does not answer"))
	case resp.Count >= waitingWarns:
		all = append(all, fault(httpapi.FindingWarning, "outbox", "", "Look whether the log store keeps up: its disk and its load.", "%d outcomes wait in etcd for the log store", resp.Count))
	default:
		all = append(all, ok("outbox", "", "%d outcomes wait in etcd for the log store", resp.Count))
	}
	switch count, full := d.state.backlog.Waiting(); {
	case full:
		all = append(all, fault(httpapi.FindingFailing, "changes", "", advice, "%d changes wait in etcd for the log store: jobs cannot be saved until it takes them", count))
	case count >= waitingWarns:
		all = append(all, fault(httpapi.FindingWarning, "changes", "", "Look whether the log store keeps up, and whether a master is elected.", "%d changes wait in etcd for the log store", count))
	default:
		all = append(all, ok("changes", "", "%d changes wait in etcd for the log store", count))
	}
	return all
}

// certificatesInUse tells how long each is good for.
func (d *doctor) certificatesInUse(context.Context) []httpapi.Finding {
	var all []httpapi.Finding
	for _, keeper := range d.certificates.all() {
		use, file, from, until := keeper.Shown()
		all = append(all, judgeCertificate(use+", "+file, until.Sub(from), until.Sub(WallClock()), until))
	}
	return all
}

// judgeCertificate warns when a fifth of the certificate's life is left, or two weeks: a
// timer should have renewed it by then.
func judgeCertificate(who string, life, left time.Duration, until time.Time) httpapi.Finding {
	at, warns := until.UTC().Format("2006-01-02 15:04 UTC"), min(certWarns, life/5)
	switch {
	case left <= 0:
		return fault(httpapi.FindingFailing, "certificate", who, adviseCert, "it ended at %s", at)
	case left < warns/5:
		return fault(httpapi.FindingFailing, "certificate", who, adviseCert, "it ends in %v, at %s", left.Round(time.Minute), at)
	case left < warns:
		return fault(httpapi.FindingWarning, "certificate", who, adviseCert, "it ends in %d days, at %s", int(left.Hours()/24), at)
	}
	return ok("certificate", who, "it is good until %s", at)
}

// staff looks at who is there to run anything.
func (d *doctor) staff(ctx context.Context) []httpapi.Finding {
	members, err := d.workers.Workers(ctx)
	if err != nil {
		return []httpapi.Finding{fault(httpapi.FindingUnknown, "workers", "", "", "they cannot be listed while etcd does not answer")}
	}
	var all []httpapi.Finding
	alive, slots, used, draining := 0, 0, 0, 0
	for i := range members {
		m := &members[i]
		name := cmp.Or(m.Name, m.Worker)
		switch {
		case m.Lease == 0:
			all = append(all, fault(httpapi.FindingWarning, "worker", name, "Start it again. One that will not come back is forgotten with: cronctl undrain "+m.Worker+"; cronctl set worker "+m.Worker+" --reset slots,weight,labels",
				"it is not there, and something is set for it"))
			continue
		case m.Draining || m.Settings.Drain:
			draining++
		case m.Trouble != "":
			all = append(all, fault(httpapi.FindingFailing, "worker", name, "It takes runs again by itself when that is over.", "it takes no runs: %s", m.Trouble))
		}
		alive, slots, used = alive+1, slots+m.EffectiveSlots(), used+m.Used
	}
	text := fmt.Sprintf("%d alive, %d of %d slots used", alive, used, slots)
	if draining > 0 {
		text += fmt.Sprintf(", %d draining", draining)
	}
	switch {
	case alive == 0:
		return append([]httpapi.Finding{fault(httpapi.FindingFailing, "workers", "", "Start carillon-worker on some machine.", "no worker is alive: nothing runs")}, all...)
	case alive == draining:
		return append([]httpapi.Finding{fault(httpapi.FindingFailing, "workers", "", "Let one take runs again: cronctl undrain WORKER.", "all workers are draining: nothing new runs")}, all...)
	case used >= slots:
		return append([]httpapi.Finding{fault(httpapi.FindingWarning, "workers", "", "Start more workers, or give them more slots: cronctl set worker WORKER --slots N.", "all slots are taken, and what falls due waits: %s", text)}, all...)
	}
	return append([]httpapi.Finding{ok("workers", "", "%s", text)}, all...)
}

// masters compares the versions of everybody.
func (d *doctor) masters(context.Context) []httpapi.Finding {
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
		return []httpapi.Finding{ok("versions", "", "%d masters and %d workers are of version %s", masters, len(snapshot.Members), d.version)}
	}
	var all []httpapi.Finding
	for _, version := range slices.Sorted(maps.Keys(apart)) {
		who := apart[version]
		slices.Sort(who)
		all = append(all, fault(httpapi.FindingWarning, "versions", "", "Upgrade the older ones: a rolling upgrade may take its time, but should come to an end.",
			"this master is of version %s, and of version %s are: %s", d.version, cmp.Or(version, "(unknown)"), common.Excerpt(strings.Join(who, ", "))))
	}
	return all
}

// leader tells who does the housekeeping.
func (d *doctor) leader(context.Context) []httpapi.Finding {
	if holder, elected := d.state.elector.Leader(); elected {
		return []httpapi.Finding{ok("elected", "", "master %s, since %s", holder.Name, holder.Since.UTC().Format("2006-01-02 15:04 UTC"))}
	}
	return []httpapi.Finding{fault(httpapi.FindingFailing, "elected", "", "One should be elected within a minute. If not, look whether the masters reach etcd, and at their logs.",
		"no master is elected: nobody does the housekeeping, seals the audit chain, or tells people")}
}

// others are the degraded modes of which the looks above do not tell.
func (d *doctor) others(context.Context) []httpapi.Finding {
	var all []httpapi.Finding
	for _, c := range d.state.Conditions() {
		cure, known := cures[c.Code]
		if known && cure.seen {
			continue
		}
		status := httpapi.FindingWarning
		if cure.fails || c.StopsClaims {
			status = httpapi.FindingFailing
		}
		f := fault(status, cmp.Or(cure.check, c.Code), c.Who, cure.advice, "%s", c.Text)
		f.Data = c.Data
		all = append(all, f)
	}
	for _, check := range []string{"jobs", "audit", "notifications", "housekeeping"} {
		if !slices.ContainsFunc(all, func(f httpapi.Finding) bool { return f.Check == check }) {
			all = append(all, ok(check, "", "nothing stands out"))
		}
	}
	return all
}

// cure is what to do about a degraded mode.
type cure struct {
	check  string
	advice string
	fails  bool
	seen   bool // a look of its own tells of it
}

var cures = map[string]cure{
	common.ConditionEtcdAway:        {seen: true},
	common.ConditionEtcdFull:        {seen: true},
	common.ConditionLogStoreAway:    {check: "log_store", fails: true, advice: "Look whether who tells of it reaches the log store. Nothing is lost meanwhile: outcomes wait in etcd, and output on the worker's disk."},
	common.ConditionOutboxFull:      {check: "outbox", fails: true, advice: "Bring the log store back: outcomes drain by themselves, and then workers claim again."},
	common.ConditionSpoolFull:       {check: "worker", fails: true, advice: "Bring the log store back, or give the worker more room (spoolMax): the oldest output is being dropped."},
	common.ConditionDiskFull:        {check: "worker", fails: true, advice: "Make room on the worker's disk: it takes runs again by itself."},
	common.ConditionClockOff:        {check: "clock", fails: true, advice: adviseClock},
	common.ConditionWorkerLost:      {check: "worker", advice: "Its runs are resolved by themselves after lostAfter. Look at the machine; start the worker again, or leave it."},
	common.ConditionNoWorkers:       {seen: true},
	common.ConditionWatchStale:      {check: "watch", advice: "Look at the rights of this process in etcd, at the network, and at the log for watch_interrupted; it is retried by itself."},
	common.ConditionLoopStuck:       {check: "loops", advice: "Look at the error, at the rights of this process in etcd, and at its log; it is retried by itself."},
	common.ConditionNoElectedMaster: {check: "masters", fails: true, advice: "Look at the masters' logs for election_failed and duty_stuck, and at their rights under /cron/leader/."},
	common.ConditionUnreadable:      {check: "jobs", fails: true, advice: "Look at the key with etcdctl get: something else wrote it, or a newer version did. Define the job anew, or delete it."},
	common.ConditionMissesFeature: {
		check: "versions",
		advice: "Upgrade the worker. For memoryMax and tasksMax give it a cgroup with the controllers memory and pids, as " +
			"the supplied unit does. Until then other workers run those jobs.",
	},
	common.ConditionHousekeeping:    {check: "housekeeping", advice: "Look at the elected master's log for housekeeping_failed: most often the log store refuses."},
	common.ConditionOverdue:         {check: "jobs", fails: true, advice: "Ask why nobody takes them: cronctl describe job NAME says who may run it, and why the others may not."},
	common.ConditionNoEntry:         {check: "jobs", fails: true, advice: "This should not happen: keep the logs of masters and workers of that hour, and tell the authors."},
	common.ConditionCertificateEnds: {seen: true},
	common.ConditionCertificateBad:  {check: "certificate", fails: true, advice: "Look whether certificate and key belong together and may be read: the one before stays in use until then."},
	common.ConditionChangesFull:     {seen: true},
	common.ConditionAuditStuck:      {check: "audit", fails: true, advice: "Look at the elected master's log, and whether the log store takes writes: changes wait in etcd until they are sealed, and nothing is lost."},
	common.ConditionClockUnproven:   {check: "clock", fails: true, advice: adviseClock},
	common.ConditionCursorInFuture:  {check: "jobs", fails: true, advice: "Set the clocks right, then bring the cursors back: cronctl recover."},
	common.ConditionEtcdWentBack:    {check: "etcd", fails: true, advice: "Follow docs/backup.md, then accept what etcd holds: cronctl recover."},
	common.ConditionCannotStart:     {check: "worker", fails: true, advice: "Look at the limits of the worker's machine and unit (LimitNOFILE, TasksMax, memory) and at the disk of its data folder: it takes runs again when a probe succeeds."},
	common.ConditionStartHangs:      {check: "worker", advice: "Look for a file system that does not answer (df, findmnt) among those that hold the programs and folders of its jobs."},
	common.ConditionGuardianSilent:  {check: "worker", advice: "Look at the first of the worker's two processes on that host (ps): continue it if it is stopped or traced, or restart the worker."},
	common.ConditionRunAs:           {check: "worker", advice: "Mend the worker's runAs file: it must be valid, belong to root, and be writable by nobody else. What it said before counts until then."},
	common.ConditionNotifyStuck:     {check: "notifications", fails: true, advice: "Look at the elected master's log for notices_interrupted. Nothing is lost: it goes on from where it was."},
	common.ConditionNotifyBehind:    {check: "notifications", advice: "Wait: it reads what etcd has compacted from the log store, page by page. Look at the log store if that takes long."},
	common.ConditionNotifyFailing:   {check: "notifications", advice: "Look at what it answers: cronctl get deliveries --channel NAME -o wide; then try it: cronctl test channel NAME."},
}
