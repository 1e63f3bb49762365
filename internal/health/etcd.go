package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

const (
	// SlowAnswer is the response time of etcd and of the log store from which they count as slow.
	SlowAnswer = 500 * time.Millisecond
	// defaultQuota is etcd's quota if none is configured. Before version 3.6 a server does not report its
	// quota.
	defaultQuota = 2 << 30
	// Shares of the quota, in percent.
	spaceWarns, spaceFails = 70, 90
)

// AdviseEtcd is the remedy if etcd does not respond.
const AdviseEtcd = "Check that etcd runs and that this master can reach it: etcdctl endpoint status, and etcd's log."

const (
	adviseVersion = "Upgrade etcd, one member after the other: older versions allow a worker's user more than its " +
		"role permits."
	adviseSpace = "Compact etcd's history (--auto-compaction-retention=1h), then defragment it, one member after " +
		"the other: etcdctl defrag. Or increase --quota-backend-bytes."
	adviseNoSpace = "Free space (compact, then etcdctl defrag on each member), then disarm the alarm: etcdctl alarm " +
		"disarm."
	// AdviseTokens is the remedy for fencing tokens that have become lower.
	AdviseTokens = "If etcd was restored without --bump-revision, lower the tokens that protected resources have " +
		"stored: they reject the owners of today until then. See docs/lock.md."
	// AdviseClock is the remedy for clocks that differ.
	AdviseClock = "Synchronise the clocks of all machines with NTP: timedatectl set-ntp true, or chrony."
)

// EtcdMember is the status of a member of etcd.
type EtcdMember struct {
	Name         string
	Took         time.Duration // response time
	Leader       bool          // it has a leader
	Learner      bool
	Version      string
	VersionFault string // why the version is not supported; empty if it is
	Size, Used   int64  // bytes
	Quota        int64  // bytes; 0: not reported
	Alarms       []string
}

// Findings judges the status of a member.
func (s *EtcdMember) Findings() []Finding {
	who, took := s.Name, s.Took
	var all []Finding
	switch {
	case !s.Leader:
		all = append(all,
			Fault(FindingFailing, "etcd", who,
				"Check that a majority of etcd's members run and reach each other.", "it has no leader: writes fail"))
	case s.Learner:
		all = append(all,
			Fault(FindingWarning, "etcd", who,
				"Promote it (etcdctl member promote), or remove it from etcd.endpoints.",
				"it is a learner, which accepts no writes"))
	case took > SlowAnswer:
		all = append(all,
			Fault(FindingWarning, "etcd", who,
				"Check its disk: etcd needs a dedicated one with fsync under 10 ms.", "response time %v",
				took.Round(time.Millisecond)))
	default:
		all = append(all, OK("etcd", who, "response time %v", Within(took)))
	}
	if why := s.VersionFault; why != "" {
		all = append(all, Fault(FindingWarning, "etcd_version", who, adviseVersion, "%s", why))
	} else {
		all = append(all, OK("etcd_version", who, "%s", s.Version))
	}
	share := s.Size * 100 / cmp.Or(s.Quota, defaultQuota)
	text := fmt.Sprintf("%s of %s allocated (%d %%), %s of it in use", size(s.Size), size(s.Quota), share,
		size(s.Used))
	if s.Quota == 0 {
		text = fmt.Sprintf("%s allocated, %s of it in use; this version does not report its quota", size(s.Size),
			size(s.Used))
		// More than the default means that a larger quota is configured.
		if share > 100 {
			share = 0
		} else if share >= spaceWarns {
			share, text = spaceWarns, text+"; the default quota is "+size(defaultQuota)
		}
	}
	switch {
	case slices.ContainsFunc(s.Alarms, func(e string) bool { return strings.Contains(e, "NOSPACE") }):
		all = append(all,
			Fault(FindingFailing, "etcd_space", who, adviseNoSpace, "it is full and refuses writes: %s", text))
	case share >= spaceFails:
		all = append(all, Fault(FindingFailing, "etcd_space", who, adviseSpace, "%s", text))
	case share >= spaceWarns:
		all = append(all, Fault(FindingWarning, "etcd_space", who, adviseSpace, "%s", text))
	default:
		all = append(all, OK("etcd_space", who, "%s", text))
	}
	for _, e := range s.Alarms {
		if !strings.Contains(e, "NOSPACE") {
			all = append(all,
				Fault(FindingFailing, "etcd", who,
					"List alarms with etcdctl alarm list, and read etcd's log.", "alarm active: %s", common.Excerpt(e)))
		}
	}
	return all
}

// Within rounds a duration to milliseconds, at least one.
func Within(took time.Duration) time.Duration {
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
