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

// FeatureOutputs: a run reports values in files; see Job.Outputs.
const FeatureOutputs = "outputs"

// FeatureFlows: the worker advances flow runs; see Job.Steps.
const FeatureFlows = "flows"

// FeatureAfter: the worker takes part in firing jobs whose parents have succeeded; see Job.After. FeatureSuccesses: it
// writes successes of jobs that others name in after; masters store it with these jobs.
const (
	FeatureAfter     = "after"
	FeatureSuccesses = "successes"
)

// FeatureTypes: steps of a flow may have a type. A job with a type needs the feature of that type instead; see
// FeatureOfType.
const FeatureTypes = "types"

// FeatureDaemon: the worker keeps the replicas of daemon jobs; see Job.Daemon.
const FeatureDaemon = "daemon"

// FeatureSchedules: the worker plans jobs with several schedules; see Job.Schedules.
const FeatureSchedules = "schedules"

// FeaturePools: the worker takes slots of pools; see Job.Pool.
const FeaturePools = "pools"

// FeatureValues: an output may have a default, a text may be compared with a number, and steps can read the interval of
// their flow run; see Output.Default.
const FeatureValues = "values"

// FeatureFinally: the worker runs clean-up steps; see Step.Finally.
const FeatureFinally = "finally"

// FeatureJoins: the worker ends steps that run nothing, and knows RuleNoneFailedOneSuccess; see Step.Join.
const FeatureJoins = "joins"

// FeatureFlowRetry: the worker tries a flow run again, and the job of a step, as their flow says; see Job.Retry of
// flows and Step.Retry of steps that run a job.
const FeatureFlowRetry = "flowretry"

// FeatureNested: the worker starts a flow run that a step runs from what an earlier one has done; see Base.Nested.
const FeatureNested = "nested"

// FeatureAccept: the worker records which failures of a flow run were accepted, with its outcome; see Acceptance.
const FeatureAccept = "accept"

// FeatureNoAfter: the worker does not write the success of a run that was requested with after: false; see
// Trigger.NoAfter. Masters store it with the job of such a request.
const FeatureNoAfter = "noafter"

// FeatureApprovals: the worker keeps who may answer an approval, its parameters, the values in its text, and what
// becomes of it without an answer, which is its end after a day unless it has a timeout; see Approval.
const FeatureApprovals = "approvals"

// FeatureCollect: the worker collects an output of the items of a map, and puts items into texts; see ForEach.Collect.
const FeatureCollect = "collect"

// FeatureWaits: the worker starts steps that wait for fires of a job; see Wait.
const FeatureWaits = "waits"

// FeatureGroups: maintenance windows of a group apply to jobs of the groups that are nested in it.
const FeatureGroups = "groups"

// Features returns the features of the workers of this version. A worker that lacks one that a job needs would not run
// it as defined.
var Features = [...]string{FeatureDetach, FeatureSecrets, FeatureMemoryMax, FeatureTasksMax, FeatureOutputs,
	FeatureFlows, FeatureAfter, FeatureSuccesses, FeatureTypes, FeatureSpread, FeatureDaemon, FeatureSchedules,
	FeaturePools, FeatureValues, FeatureFinally, FeatureJoins, FeatureFlowRetry, FeatureNested, FeatureAccept,
	FeatureNoAfter, FeatureApprovals, FeatureCollect, FeatureWaits, FeatureGroups}

// Adding returns features with a further one.
func Adding(features []string, further string) []string {
	if slices.Contains(features, further) {
		return features
	}
	return append(slices.Clip(features), further)
}

// NeededFeatures returns the features that the job's fields require.
func (j *Job) NeededFeatures() (needs []string) {
	if j.IsFlow() { // all else is needed where its steps run
		return j.flowFeatures(len(StepTypes(j.Steps)) > 0)
	}
	if j.TypeName() == TypeFunc {
		needs = append(needs, FunctionOf(j.With).Feature())
	} else if j.IsTyped() {
		needs = append(needs, FeatureOfType(j.Type))
	}
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
	if len(j.Outputs) > 0 {
		needs = append(needs, FeatureOutputs)
	}
	if hasDefault(j.Outputs) {
		needs = append(needs, FeatureValues)
	}
	if len(j.After) > 0 {
		needs = append(needs, FeatureAfter)
	}
	if j.RunOn != nil {
		needs = append(needs, FeatureSpread)
	}
	if j.Daemon != nil {
		needs = append(needs, FeatureDaemon)
	}
	if len(j.Schedules) > 0 {
		needs = append(needs, FeatureSchedules)
	}
	if j.Pool != "" {
		needs = append(needs, FeaturePools)
	}
	if IsNested(j.Group) {
		needs = append(needs, FeatureGroups)
	}
	return needs
}

// flowFeatures returns the features that a flow requires, with steps that have a type or without.
func (j *Job) flowFeatures(types bool) []string {
	needs := []string{FeatureFlows}
	if types {
		needs = append(needs, FeatureTypes)
	}
	if len(j.Schedules) > 0 {
		needs = append(needs, FeatureSchedules)
	}
	if IsNested(j.Group) {
		needs = append(needs, FeatureGroups)
	}
	return needs
}

// NeededFeatures returns the features that the job's fields require.
func (s *StoredJob) NeededFeatures() []string {
	if !s.IsFlow() {
		return s.Job.NeededFeatures()
	}
	if s.Flow == nil {
		return s.flowFeatures(len(StepTypes(s.Steps)) > 0)
	}
	return append(s.flowFeatures(len(s.Flow.Types) > 0), s.Flow.Needs...)
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
		explained = explained || !Understood(need)
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
	lacking, explained := slices.DeleteFunc(slices.Clone(s.Needs), Understood), 0
	s.enums(func(field, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) && !strings.Contains(field, "dst.") {
			explained++
		}
	})
	if len(lacking) <= explained {
		return nil
	}
	return lacking
}

// NoteNeeds stores the features that the job requires, when it replaces another definition. Features that this version
// does not know are kept: a newer version stored them, and removes them when it saves the job. FeatureSuccesses is kept
// as long as the job exists, since other jobs require it, and FeatureNoAfter, since a run may.
func (s *StoredJob) NoteNeeds(before []string) {
	s.Needs = s.NeededFeatures()
	for _, need := range before {
		kept := need == FeatureSuccesses || need == FeatureNoAfter || !Understood(need)
		if kept && !slices.Contains(s.Needs, need) {
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
	if s.IsFlow() { // a flow run has no process: its placement is that of its steps
		t.Slots, t.Strategy, t.Selector, t.Workers = 0, StrategyHash, "", ""
	}
	return t
}

// enums calls visit for each field that has a fixed set of values.
func (j *Job) enums(visit func(field, value string, known ...string)) {
	visit("onLost", string(j.OnLost), string(LostRerun), string(LostAbandon), string(LostDetach))
	visit("overlap", string(j.Overlap), string(OverlapSkip), string(OverlapQueue), string(OverlapReplace),
		string(OverlapAllow))
	j.EachSchedule(func(at string, _ int, s *JobSchedule) {
		if d := s.DST; d != nil {
			visit(at+"dst.gap", d.Gap, "run", "skip")
			visit(at+"dst.overlap", d.Overlap, "first", "second", "both")
		}
	})
	if c := j.CatchUp; c != nil {
		visit("catchUp.policy", string(c.Policy), string(CatchUpNone), string(CatchUpLatest), string(CatchUpAll))
	}
	if p := j.Placement; p != nil {
		visit("placement.strategy", string(p.Strategy), string(StrategyHash), string(StrategyLeast),
			string(StrategyWeight), string(StrategyAny))
	}
}
