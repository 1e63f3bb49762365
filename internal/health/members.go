package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// certWarns is how long before its end a certificate is reported at the earliest.
const certWarns = 14 * 24 * time.Hour

const adviseCert = "Replace the certificate file: it is loaded without a restart. A timer should renew it (certbot, " +
	"step, cert-manager)."

// Certificate judges the remaining validity of a certificate. It warns when the smaller of two weeks and a fifth of
// the certificate's lifetime is left: a timer should have renewed it by then.
func Certificate(who string, life, left time.Duration, until time.Time) Finding {
	at, warns := until.UTC().Format("2006-01-02 15:04 UTC"), min(certWarns, life/5)
	switch {
	case left <= 0:
		return Fault(FindingFailing, "certificate", who, adviseCert, "expired at %s", at)
	case left < warns/5:
		return Fault(FindingFailing, "certificate", who, adviseCert, "expires in %v, at %s",
			left.Round(time.Minute), at)
	case left < warns:
		return Fault(FindingWarning, "certificate", who, adviseCert, "expires in %s, at %s",
			common.Count(int(left.Hours()/24), "day", "days"), at)
	}
	return OK("certificate", who, "valid until %s", at)
}

// Workers judges the workers, including those with settings only.
func Workers(members []common.Member) []Finding {
	var all []Finding
	alive, slots, used, draining := 0, 0, 0, 0
	for i := range members {
		m := &members[i]
		name := cmp.Or(m.Name, m.Worker)
		switch {
		case m.Lease == 0:
			all = append(all, Fault(FindingWarning, "worker", name,
				"Start it again. If it will not return, delete its settings: cronctl delete worker "+m.Worker,
				"it is not running, but has settings"))
			continue
		case m.Draining || m.Settings.Drain:
			draining++
		case m.Trouble != "":
			all = append(all,
				Fault(FindingFailing, "worker", name,
					"It accepts runs again automatically when the condition ends.", "it accepts no runs: %s",
					m.Trouble))
		}
		alive, slots, used = alive+1, slots+m.EffectiveSlots(), used+m.Used
	}
	text := fmt.Sprintf("%d alive, %d of %s used", alive, used, common.Count(slots, "slot", "slots"))
	if draining > 0 {
		text += fmt.Sprintf(", %d draining", draining)
	}
	switch {
	case alive == 0:
		return append([]Finding{Fault(FindingFailing, "workers", "",
			"Start carillon-worker on at least one machine.", "no worker is alive: no job runs")}, all...)
	case alive == draining:
		return append([]Finding{Fault(FindingFailing, "workers", "",
			"End the drain of a worker: cronctl undrain WORKER.",
			"all workers are draining: no new run starts")}, all...)
	case used >= slots:
		return append([]Finding{Fault(FindingWarning, "workers", "",
			"Start more workers, or give them more slots: cronctl set worker WORKER --slots N.",
			"all slots are in use and due fires are waiting: %s", text)}, all...)
	}
	return append([]Finding{OK("workers", "", "%s", text)}, all...)
}

// Versions compares the versions of all masters and workers with one.
func Versions(version string, masters []common.MasterPresence, workers []common.Member) []Finding {
	apart := others(version, masters, workers, func(m *common.MasterPresence) string { return m.Version },
		func(m *common.Member) string { return m.Version })
	if len(apart) == 0 {
		return []Finding{OK("versions", "", "%s and %s have version %s",
			common.Count(len(masters), "master", "masters"), common.Count(len(workers), "worker", "workers"), version)}
	}
	var all []Finding
	for _, other := range slices.Sorted(maps.Keys(apart)) {
		all = append(all, Fault(FindingWarning, "versions", "",
			"Complete the rolling upgrade: upgrade the older processes.",
			"this master has version %s; version %s: %s", version, cmp.Or(other, "(unknown)"), apart[other]))
	}
	return all
}

// ZoneData compares the versions of the time zones of all masters and workers with one. Processes of earlier versions
// report none: they read the files of their machines.
func ZoneData(version string, masters []common.MasterPresence, workers []common.Member) []Finding {
	apart := others(version, masters, workers, func(m *common.MasterPresence) string { return m.ZoneData },
		func(m *common.Member) string { return m.ZoneData })
	if len(apart) == 0 {
		return []Finding{OK("zone_data", "", "version %s", version)}
	}
	var all []Finding
	for _, other := range slices.Sorted(maps.Keys(apart)) {
		all = append(all, Fault(FindingWarning, "zone_data", "",
			"Upgrade the older processes. Where the rules of a zone differ, they compute different fires.",
			"this master has version %s of the time zones; version %s: %s", version,
			cmp.Or(other, "(that of the machine)"), apart[other]))
	}
	return all
}

// others returns the live masters and workers with another version than this one, by version.
func others(version string, masters []common.MasterPresence, workers []common.Member,
	ofMaster func(*common.MasterPresence) string, ofWorker func(*common.Member) string) map[string]string {
	names := map[string][]string{}
	for i := range masters {
		if found := ofMaster(&masters[i]); found != version {
			names[found] = append(names[found], "master "+masters[i].Host)
		}
	}
	for i := range workers {
		m := &workers[i]
		if found := ofWorker(m); m.Lease != 0 && found != version {
			names[found] = append(names[found], "worker "+cmp.Or(m.Name, m.Worker))
		}
	}
	apart := make(map[string]string, len(names))
	for found, who := range names {
		slices.Sort(who)
		apart[found] = common.Excerpt(strings.Join(who, ", "))
	}
	return apart
}
