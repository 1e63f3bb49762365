package common

import (
	"slices"
	"strings"
)

// FeatureDetach: a run continues while its worker has no connection; see LostDetach.
const FeatureDetach = "detach"

// FeatureSecrets: values of env may refer to named secrets; see SecretPrefix.
const FeatureSecrets = "secrets"

// FeatureMemoryMax and FeatureTasksMax: the worker can limit the memory and the number of tasks of a run. A worker has
// them if the machine permits it.
const (
	FeatureMemoryMax = "memoryMax"
	FeatureTasksMax  = "tasksMax"
)

// Features returns the features of the workers of this version. A worker that lacks one that a job needs would not run
// it as defined.
var Features = [...]string{FeatureDetach, FeatureSecrets, FeatureMemoryMax, FeatureTasksMax}

// NeededFeatures returns the features that the job's fields require.
func (j *Job) NeededFeatures() (needs []string) {
	if j.OnLost == LostDetach {
		needs = append(needs, FeatureDetach)
	}
	if len(j.SecretRefs()) > 0 {
		needs = append(needs, FeatureSecrets)
	}
	if j.MemoryMax != "" {
		needs = append(needs, FeatureMemoryMax)
	}
	if j.TasksMax != 0 {
		needs = append(needs, FeatureTasksMax)
	}
	return needs
}

// MustHave returns the features that a worker must have to run the job as defined: those that were stored when it was
// saved, and those that its fields require. A value that this version does not know, and that no stored feature
// explains, is a feature that no worker of this version has.
func (s *StoredJob) MustHave() []string {
	must := s.NeededFeatures()
	explained := false
	for _, need := range s.Needs {
		if !slices.Contains(must, need) {
			must = append(must, need)
		}
		explained = explained || !slices.Contains(Features[:], need)
	}
	if !explained {
		s.enums(func(field, value string, known ...string) {
			if value != "" && !slices.Contains(known, value) {
				must = append(must, field+"="+Excerpt(value))
			}
		})
	}
	return must
}

// ScheduleNeeds returns the stored features that this version lacks and that may change when the job fires: all that it
// lacks, unless as many unknown values of other fields explain them.
func (s *StoredJob) ScheduleNeeds() []string {
	lacking, explained := Lacking(s.Needs, Features[:]), 0
	s.enums(func(field, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) && !strings.HasPrefix(field, "dst.") {
			explained++
		}
	})
	if len(lacking) <= explained {
		return nil
	}
	return lacking
}

// NoteNeeds stores the features that the job requires, when it replaces another definition. Features that this version
// does not know are kept: a newer version stored them, and removes them when it saves the job.
func (s *StoredJob) NoteNeeds(before []string) {
	s.Needs = s.NeededFeatures()
	for _, need := range before {
		if !slices.Contains(Features[:], need) && !slices.Contains(s.Needs, need) {
			s.Needs = append(s.Needs, need)
		}
	}
}

// Lacking returns the needs that are not among the features.
func Lacking(needs, features []string) (lacking []string) {
	for _, need := range needs {
		if !slices.Contains(features, need) {
			lacking = append(lacking, need)
		}
	}
	return lacking
}

// Terms returns the job's terms, with the features that it needs.
func (s *StoredJob) Terms() Terms {
	t := s.Job.Terms()
	t.Needs = strings.Join(s.MustHave(), ",")
	return t
}

// enums calls visit for each field that has a fixed set of values.
func (j *Job) enums(visit func(field, value string, known ...string)) {
	visit("onLost", string(j.OnLost), string(LostRerun), string(LostAbandon), string(LostDetach))
	visit("overlap", string(j.Overlap), string(OverlapSkip), string(OverlapQueue), string(OverlapReplace),
		string(OverlapAllow))
	if d := j.DST; d != nil {
		visit("dst.gap", d.Gap, "run", "skip")
		visit("dst.overlap", d.Overlap, "first", "second", "both")
	}
	if c := j.CatchUp; c != nil {
		visit("catchUp.policy", string(c.Policy), string(CatchUpNone), string(CatchUpLatest), string(CatchUpAll))
	}
	if p := j.Placement; p != nil {
		visit("placement.strategy", string(p.Strategy), string(StrategyHash), string(StrategyLeast),
			string(StrategyWeight), string(StrategyAny))
	}
}
