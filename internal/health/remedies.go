package health

import (
	"cmp"
	"slices"
	"strings"

	"carillon/internal/common"
)

// Remedies returns a finding for each condition that no other check covers.
func Remedies(conditions []common.Condition) []Finding {
	var all []Finding
	for _, c := range conditions {
		remedy := remedies[c.Code]
		if remedy.covered {
			continue
		}
		status := FindingWarning
		if remedy.fails || c.StopsClaims {
			status = FindingFailing
		}
		f := Fault(status, cmp.Or(remedy.check, c.Code), c.Who, remedy.of(&c), "%s", c.Text)
		f.Condition, f.Data = c.Code, c.Data
		all = append(all, f)
	}
	for _, check := range []string{"jobs", "audit", "notifications", "housekeeping"} {
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == check }) {
			all = append(all, OK(check, "", "no active problem"))
		}
	}
	return all
}

// remedy is the remedy for a condition.
type remedy struct {
	check   string
	advice  string // with NAME in place of what the data have in the field name
	name    string
	fails   bool
	covered bool // covered by a check of its own
}

// of returns the advice about a condition. Of several names it gives the first.
func (r *remedy) of(c *common.Condition) string {
	name, _, _ := strings.Cut(c.Data[r.name], ", ")
	if name == "" {
		return r.advice
	}
	return strings.ReplaceAll(r.advice, "NAME", name)
}

var remedies = map[string]remedy{
	common.ConditionFunctionStuck: {
		check: "worker",
		advice: "Make the function return when its context has ended. Its run keeps its slots until then; restarting " +
			"the program ends it.",
	},
	common.ConditionNotApplied: {
		check: "jobs",
		advice: "Check the address and the token of the program: it runs the jobs as they are defined now, and tries " +
			"again every minute.",
	},
	common.ConditionRefused: {
		check: "jobs",
		name:  "job",
		advice: "Save the job NAME with values of its own that are valid (cronctl edit job NAME), or change the " +
			"defaults of its group; each such job is tried again then.",
	},
	common.ConditionEtcdAway: {covered: true},
	common.ConditionEtcdFull: {covered: true},
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
	common.ConditionClockOff: {check: "clock", fails: true, advice: AdviseClock},
	common.ConditionWorkerLost: {
		check: "worker",
		advice: "Its runs are resolved automatically after lostAfter. Check the machine; start the worker again if " +
			"it is still needed.",
	},
	common.ConditionNoWorkers: {covered: true},
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
		advice: "Another program or a newer version wrote it. Define the job again, or delete it; cronctl doctor " +
			"lists all such values for admins, and how to proceed with each.",
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
		name:  "first",
		advice: "Find out why no worker claims them: cronctl describe job NAME lists the eligible workers, and why " +
			"others are not eligible.",
	},
	common.ConditionNoEntry: {
		check:  "jobs",
		fails:  true,
		advice: "This indicates a defect: keep the logs of masters and workers of that hour, and report it.",
	},
	common.ConditionCertificateEnds: {covered: true},
	common.ConditionCertificateBad: {
		check: "certificate",
		fails: true,
		advice: "Check that certificate and key match and are readable: the previous certificate stays in use until " +
			"then.",
	},
	common.ConditionChangesFull: {covered: true},
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
	common.ConditionClockUnproven: {check: "clock", fails: true, advice: AdviseClock},
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
	common.ConditionUpdateStuck: {
		check: "job",
		advice: "Look at the last runs and the output of that replica. Save the job with a command that keeps " +
			"running, or restore its last version (cronctl rollback): then its other replicas go on.",
	},
	common.ConditionRunAs: {
		check: "worker",
		advice: "Correct the worker's runAs file: it must be valid, owned by root, and writable by root only. Its " +
			"previous content applies until then.",
	},
	common.ConditionTypeBroken: {
		check: "worker",
		advice: "Check the plug-in on the worker's machine: carillon-worker types shows why it is not offered, and " +
			"carillon-worker types --check FILE what violates the protocol.",
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
		name:  "channels",
		advice: "Check its responses: cronctl get deliveries --channel NAME -o wide; then test it: cronctl test " +
			"channel NAME.",
	},
}
