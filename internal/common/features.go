package common

import (
	"slices"
	"strings"
)

// FeatureDetach is that a run of a worker that is cut off goes on; see LostDetach.
const FeatureDetach = "detach"

// FeatureSecrets is that values of env may stand for named secrets; see SecretPrefix.
const FeatureSecrets = "secrets"

// FeatureMemoryMax and FeatureTasksMax are that a worker can limit the memory and the number of tasks of a run. A
// worker has them where the machine lets it.
const (
	FeatureMemoryMax = "memoryMax"
	FeatureTasksMax  = "tasksMax"
)

// Features are what the workers of this version can do beyond what those of any version
// can. A worker that lacks one that a job needs would run it otherwise than it says.
var Features = [...]string{FeatureDetach, FeatureSecrets, FeatureMemoryMax, FeatureTasksMax}

// NeededFeatures are those that the job's fields ask for.
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

// MustHave is what a worker must be able to do to run the job as it says: what was noted
// when it was saved, and what its fields ask for. A value that is not known here, and that
// nothing noted explains, is something that nobody here can do.
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

// ScheduleNeeds are noted needs that this version lacks and that may change when the job fires: all that
// it lacks, unless as many unknown values of other fields explain them.
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

// NoteNeeds notes what the job asks for when it is saved in place of another. Needs that
// are not known here stay: a newer version noted them, and drops them when it saves.
func (s *StoredJob) NoteNeeds(before []string) {
	s.Needs = s.NeededFeatures()
	for _, need := range before {
		if !slices.Contains(Features[:], need) && !slices.Contains(s.Needs, need) {
			s.Needs = append(s.Needs, need)
		}
	}
}

// Lacking are the needs that are not among the features.
func Lacking(needs, features []string) (lacking []string) {
	for _, need := range needs {
		if !slices.Contains(features, need) {
			lacking = append(lacking, need)
		}
	}
	return lacking
}

// Terms are the job's, with what it needs of a worker.
func (s *StoredJob) Terms() Terms {
	t := s.Job.Terms()
	t.Needs = strings.Join(s.MustHave(), ",")
	return t
}

// enums tells of each field that has a fixed set of values.
func (j *Job) enums(tell func(field, value string, known ...string)) {
	tell("onLost", string(j.OnLost), string(LostRerun), string(LostAbandon), string(LostDetach))
	tell("overlap", string(j.Overlap), string(OverlapSkip), string(OverlapQueue), string(OverlapReplace),
		string(OverlapAllow))
	if d := j.DST; d != nil {
		tell("dst.gap", d.Gap, "run", "skip")
		tell("dst.overlap", d.Overlap, "first", "second", "both")
	}
	if c := j.CatchUp; c != nil {
		tell("catchUp.policy", string(c.Policy), string(CatchUpNone), string(CatchUpLatest), string(CatchUpAll))
	}
	if p := j.Placement; p != nil {
		tell("placement.strategy", string(p.Strategy), string(StrategyHash), string(StrategyLeast),
			string(StrategyWeight), string(StrategyAny))
	}
}
