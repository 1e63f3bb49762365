package httpapi

// descriptions are those of operations that have none where they are registered, by id.
var descriptions = map[string]string{
	"list-jobs": "All jobs are listed, whoever asks. Of those in groups where you have no role, what they are made of is left out, and meta.hidden says so. Lists page by nextCursor; " +
		"what include asks for is looked up once for the whole page.",
	"create-job":   "Refused with 409 where there is a job of this name; PUT replaces it. All that is wrong is listed at once. Needs the role editor in the job's group, and everywhere for a job without one.",
	"validate-job": "Answers 200 whether the job is valid or not: with the job as it would be stored, or with all that is wrong. Warnings are about what may be saved and is likely not what is meant. Needs what saving it would.",
	"get-job":      "Its ETag, as If-Match, makes a change depend on nobody else's having come before it. Of a job in a group where you have no role, what it is made of is left out.",
	"put-job": "What was answered may be sent back as it is: meta is ignored. Needs the role editor in the group that the job is in, and in the one that it is to be in. With If-Match or " +
		"If-None-Match it is refused with 412 where somebody else was faster. A job that would not change stays at its version.",
	"delete-job":        "Its plan ends; its runs go on unless kill says otherwise. Its history stays for as long as it is kept, for those who have a role in the group in which it was.",
	"patch-job":         "A merge patch (RFC 7396): what is given takes the place of what there is, null takes it away, lists are replaced in whole. Fields that are not known are refused.",
	"rollback-job":      "Its definition becomes that of an earlier version, which makes a new one. Whether it is paused stays as it is. Needs the role editor in the group in which the job is, and in that of the version.",
	"diff-job-versions": "As patch(1) reads it, and as a list of the fields that differ. From the version in the path to the one in the query, or to the job as it is.",
	"apply-jobs": "Each job is created, changed or left alone by itself, and judged by itself: one that is refused hinders no other. The answer, a 200, says of each what became of it. " +
		"With dryRun nothing is written. Applying the same again changes nothing. Four go on at a time, two of one user; a few more wait for their turn, and one too many is answered with 429 before its body is read.",
	"bulk-jobs": "The jobs are named, or found by a filter. Each is judged by itself, by your role in its group; the answer, a 200, says of each what became of it.",
	"run-job": "The run is accepted, and waits until a worker takes it: the answer names it before it exists elsewhere. A request with an Idempotency-Key may be repeated for a day, by the same user or token, " +
		"and runs the job once. Only variables that the job lists can be set. A run that was accepted is always answered so: where its end cannot be waited for, the answer comes without the outcome.",
	"pause-job":     "Its fires are skipped, and written down as such, until it is resumed or until the time given. It can still be run by hand.",
	"resume-job":    "It fires again from now on. What it missed meanwhile is written down as skipped.",
	"get-placement": "All live workers in the order in which they would take the job's next run, those that may not last, each with the reason.",

	"list-groups": "All groups that jobs are in, whoever asks.",
	"list-labels": "What selectors can ask for. All jobs count, whoever asks.",

	"list-versions":   "Every save, pause and deletion is a version. For those who have a role in the job's group; what became of it in a group where you have none is left out.",
	"get-job-version": "The definition as it was from this version on. For those who have a role in the group in which the job was then, and in the one in which it is.",

	"list-fires":     "The ledger says of every time at which a job was to run what became of it: it ran, was skipped, or was missed and why. Up to a time in the future it goes on with the plan. A stretch of fires with one fate may be one entry.",
	"list-job-fires": "Like the ledger of all jobs, of one. That of a job which was deleted stays for as long as it is kept.",

	"get-forecast": "Counted from the plan as it stands: timetables, starts, ends and pauses count, by the planned time; jitter, triggers, retries and what is left of earlier do not. " +
		"Of nights when clocks change it tells what becomes of the fires. It may be a few seconds old. All jobs count, whoever asks.",

	"list-runs": "Runs that wait, run, or have ended, each once, wherever they are kept just now. While the log store is away the list is partial, and says so. Of runs in groups where you have no role, " +
		"parameters, notes and reasons are left out.",
	"get-run": "As it stands just now. One that goes on says when it should end, going by the job's last days.",
	"kill-run": "The command and all that it started get the signal, and KILL after the job's killGrace; a run that waits is taken back. It may be asked for again: another signal is sent as well, and KILL ends the grace. The answer does not wait " +
		"for the end; until it has come, the run says under ending what was asked for last, and by whom. Needs the role operator in the group that the run had, and in the job's.",
	"get-output": "Bytes as the command printed them, both streams as they came. Of a run that has ended it is all of it, and one range may be asked for; of one that goes on a piece, and " +
		"Carillon-Next-Offset says where to go on. For those who have a role in the run's group.",
	"search-output": "Looks at a bounded amount at a time, and says where to go on. Colours and other controls of terminals are not part of what is searched.",
	"search-runs":   "Looks at a bounded number of runs at a time, the newest first, and says how far it got. Runs in groups where you have no role are passed over.",
	"follow-output": "Server-sent events, which go on at any master with Last-Event-ID. For those who have a role in the run's group; it ends when they lose it.",

	"list-workers":   "Those that are alive, and those that are not and have settings.",
	"get-worker":     "By its id, or by its name where only one has it.",
	"patch-worker":   "What is given takes the place of what the worker says of itself; null goes back to that. It holds until it is changed, whether the worker is alive or not.",
	"drain-worker":   "What runs there goes on; nothing new begins. It holds until undrain, over restarts of the worker too.",
	"undrain-worker": "It takes its share again.",

	"list-channels":   "Jobs name channels in notify. Where they lead is shown to admins only, and no secret to anybody.",
	"get-channel":     "Where it leads is shown to admins only.",
	"put-channel":     "Of a webhook that exists, URL and secret stay where they are not given. A signing secret that was made is answered once.",
	"delete-channel":  "Jobs that name it go on, and what would be told on it fails.",
	"test-channel":    "Waits for the answer of who is told, a few seconds at most, and says what it was.",
	"list-deliveries": "What was told, is to be told, or could not be, with what the last try came to.",

	"parse-crontab": "Each line that cron would run becomes the definition of a job that does the same; what cannot be taken is told, with the reason. The names of the jobs follow from what their lines say, " +
		"so reading the same text again gives the same jobs. POST /jobs/apply creates them.",
	"preview-schedule": "The next fires of a line, its meaning in words (English or Chinese, by Accept-Language), and remarks: on nights when the clocks change, and on what the line means to other programs.",

	"get-overview":       "What runs and waits, the workers and their slots, the last day by the hour, and all that is not as it should be. What cannot be known just now is absent.",
	"get-statistics":     "Counts, success rates, durations and delays, by the hour or by the day, of each worker apart where that is asked for. At most a minute behind.",
	"get-job-statistics": "The same of one job. What a job did that was deleted stays.",

	"healthz": "For supervisors and load balancers that want to know whether the process lives. It looks at nothing else.",
	"readyz":  "For load balancers: 503 where this master cannot do its work, etcd being away. What was looked at is told only to those who are logged in.",
	"version": "The program's version, and that of Go.",
}
