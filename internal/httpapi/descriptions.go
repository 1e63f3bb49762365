package httpapi

// descriptions contains the descriptions of operations by id.
var descriptions = map[string]string{
	"list-jobs": "Lists all jobs. Definitions of jobs in groups where you have no role are left out, and " +
		"meta.hidden reports it. Pages are continued with nextCursor. The data selected by include is read once per " +
		"page.",
	"create-job": "Returns 409 if a job of this name exists; use PUT to replace it. All faults are reported at " +
		"once. Requires the role editor in the job's group, or everywhere for a job without a group.",
	"validate-job": "Returns 200 for valid and invalid jobs: with the job as it would be stored, or with all " +
		"faults. Warnings are about values that are accepted but probably not intended. Requires the same roles as " +
		"saving the job.",
	"get-job": "Send the ETag as If-Match with a change, so that it fails if the job has changed in the meantime. " +
		"The definition of a job in a group where you have no role is left out.",
	"put-job": "A job returned by the API may be sent back unchanged: meta is ignored. Requires the role editor in " +
		"the job's current and new group. With If-Match or If-None-Match, returns 412 if the job has changed in the " +
		"meantime. A job without differences keeps its version.",
	"delete-job": "The job stops firing; its current runs continue, unless kill is set. Its history is kept for " +
		"its retention, for users with a role in the group that the job had.",
	"patch-job": "A merge patch (RFC 7396): given fields replace existing ones, null removes a field, lists are " +
		"replaced as a whole. Unknown fields are refused.",
	"rollback-job": "Restores the definition of an earlier version as a new version. Whether the job is paused " +
		"does not change. Requires the role editor in the job's group and in that of the version.",
	"diff-job-versions": "Returns a unified diff, as for patch(1), and a list of the fields that differ: from the " +
		"version in the path to the one in the query, or to the current job.",
	"apply-jobs": "Each job is created, changed or left unchanged independently: a refused job does not affect the " +
		"others. Returns 200 with a result for each job. With dryRun nothing is written. Applying the same jobs " +
		"again changes nothing. At most four requests are processed at a time, two per user; a few more wait, and " +
		"further ones get 429 before their body is read.",
	"bulk-jobs": "Selects jobs by name or by a filter. Each job is authorized independently, by your role in its " +
		"group. Returns 200 with a result for each job.",
	"run-job": "The run is accepted and waits until a worker claims it; its id is returned before the run exists " +
		"elsewhere. A request with an Idempotency-Key may be repeated for a day by the same user or token, and runs " +
		"the job once. Only parameters that the job declares can be set. An accepted run is always acknowledged: if " +
		"its end cannot be waited for, the response contains no outcome.",
	"pause-job": "Fires are recorded as skipped until the job is resumed or the given time has passed. The job can " +
		"still be run manually.",
	"resume-job": "The job fires again from now on. Fires during the pause are recorded as skipped.",
	"get-placement": "Lists the eligible workers in the order in which they would claim the job's next run, then " +
		"the others, each with the reason why it is not eligible.",

	"list-groups": "Lists the groups of all jobs, whatever your roles are.",
	"list-labels": "Lists the labels that selectors can match. All jobs are counted, whatever your roles are.",

	"list-versions": "Every save, pause and deletion is a version. Requires a role in the job's group; changes " +
		"made while the job was in a group where you have no role are left out.",
	"get-job-version": "Returns the definition of a version. Requires a role in the group that the job had then " +
		"and in its current group.",

	"list-fires": "The ledger has an entry for every time at which a job was to run: the run's status, or the " +
		"reason why it was skipped or missed. With a time in the future as to, planned fires are listed too. " +
		"Consecutive fires with the same outcome may share an entry.",
	"list-job-fires": "The ledger of one job. That of a deleted job is kept for its retention.",

	"get-forecast": "Counts planned fires: schedules, start and end times and pauses are taken into account; " +
		"jitter, triggers, retries and the backlog are not. For changes of the clock, it reports what happens to " +
		"the fires concerned. The result may be a few seconds old. All jobs are counted, whatever your roles are.",

	"list-runs": "Lists pending, current and completed runs, each once, wherever they are stored. While the log " +
		"store is away, the list is partial and says so. Parameters, notes and reasons of runs in groups where you " +
		"have no role are left out.",
	"get-run": "Returns the current state of a run. For a current run, the expected end is estimated from the " +
		"job's last 7 days.",
	"kill-run": "Sends the signal to the command and all its child processes, and KILL after the job's killGrace; " +
		"a pending run is cancelled. The request may be repeated: another signal is sent as well, and KILL ends the " +
		"grace period. The response does not wait for the end; until then, the run's field ending contains the last " +
		"request. Requires the role operator in the group that the run had and in the job's current group.",
	"get-output": "Returns the output byte for byte, both streams in the order in which they were printed. For a " +
		"completed run this is the complete output, of which one range may be requested; for a current run it is a " +
		"part, and Carillon-Next-Offset is where to continue. Requires a role in the run's group.",
	"search-output": "Searches a bounded amount of output per request and returns where to continue. Terminal " +
		"control sequences, such as colours, are not searched.",
	"search-runs": "Searches a bounded number of runs per request, newest first, and returns how far it got. Runs " +
		"in groups where you have no role are left out.",
	"follow-output": "Server-sent events, which can be resumed at any master with Last-Event-ID. Requires a role " +
		"in the run's group; the stream ends when you lose it.",

	"list-workers": "Lists live workers, and workers that are not alive but have settings.",
	"get-worker":   "By id, or by name if it is unique.",
	"patch-worker": "Given values override those that the worker registers; null restores them. Settings apply " +
		"until they are changed, also while the worker is not alive.",
	"drain-worker": "Current runs continue, and no new ones are started. Applies until undrain, also after a " +
		"restart of the worker.",
	"undrain-worker": "The worker claims runs again.",

	"list-channels": "Jobs name channels in notify. Destinations are returned to admins only, secrets to no one.",
	"get-channel":   "The destination is returned to admins only.",
	"put-channel": "URL and secret of an existing webhook are kept if they are not given. A generated signing " +
		"secret is returned once.",
	"delete-channel":  "Jobs that name the channel continue to run; their deliveries to it fail.",
	"test-channel":    "Waits a few seconds at most for the receiver's response, and returns the result.",
	"list-deliveries": "Lists pending, sent and failed deliveries with the result of the last try.",

	"parse-crontab": "Converts each line that cron would run to a job definition; lines without an equivalent are " +
		"returned with the reason. Job names are derived from the lines, so the same text gives the same jobs " +
		"again. Create them with POST /jobs/apply.",
	"preview-schedule": "Returns the next fires of a cron expression, its meaning in words (English or Chinese, by " +
		"Accept-Language), and remarks, such as on changes of the clock or on the expression's meaning in other " +
		"programs.",

	"get-overview": "Current and pending runs, workers and their slots, the last 24 hours by hour, and active " +
		"problems. Values that are currently unknown are absent.",
	"get-statistics": "Counts, success rates, durations and delays by hour or day, on request also by worker. At " +
		"most one minute old.",
	"get-job-statistics": "Statistics of one job, also of a deleted one.",

	"healthz": "Liveness, for supervisors and load balancers. It checks nothing else.",
	"readyz": "Readiness, for load balancers: 503 if this master cannot work, for example while etcd is away. " +
		"Checks and conditions are returned only to authenticated clients.",
	"version": "The version of the program and of Go.",

	"list-audit": "Every change of jobs, runs, users, tokens, sessions, workers, channels and secrets has an entry " +
		"as soon as it is made. Requires the role admin everywhere, not only in a group.",
	"verify-audit": "Compares each entry with its hash, each hash with the previous one, and the end with etcd. " +
		"Request the next part from to + 1 while more is set. With links, the chain can be verified elsewhere: the " +
		"hash of a link is the SHA-256 of previous followed by text, and previous is the hash of the link before.",
	"get-doctor": "Checks etcd (each member's version, space and leader), clocks, the watch, the log store, " +
		"certificates, workers and masters, the audit chain, and all conditions. Each problem includes a remedy. " +
		"The response is 200 whatever the findings are.",
	"follow-events": "One stream reports all changes that lists and pages show. It can be resumed by revision.",
	"list-masters": "All masters serve the API. The elected one also performs the duties: housekeeping, the audit " +
		"chain, notifications.",
	"recover": "A clock that was ahead leaves cursors in the future, so that their jobs do not fire: these cursors " +
		"are moved back to now. After a restore of etcd from a backup, all cursors are moved to now, runs and " +
		"triggers of the backup are ended, and the workers continue. Each changed job has an audit entry.",
	"list-secrets": "Jobs refer to a secret by its name, with the value secret:db-password in env. Lists the " +
		"secrets that jobs of groups in which you are editor may use. Values are never returned.",
	"get-secret": "The description of a secret; its value is never returned.",
	"put-secret": "Requires the role admin in each of the secret's groups, before and after the change; everywhere " +
		"for a secret without groups. Runs that start afterwards get the new value.",
	"delete-secret": "Later runs of jobs that refer to it are refused with the reason secret_missing.",
	"login": "Creates a session for a user name and password, a token, or a login code. The response sets a " +
		"cookie; the session ends after eight hours without use, and after a day. After five failures within a " +
		"minute, for a user or from a network, returns 429; a user has five more from each network of an earlier " +
		"login.",
	"logout":          "Ends the session of this request and deletes its cookie.",
	"me":              "Returns the caller and its roles.",
	"change-password": "Ends all sessions of the user; a caller with a session gets a new cookie.",
	"list-sessions":   "Your own sessions; all sessions for admins everywhere.",
	"delete-session":  "One of your sessions; any session for admins everywhere. All masters refuse it within seconds.",
	"login-methods": "The methods of the console's login page. A browser that opens `start` returns to the console " +
		"logged in, or with the reason of the failure in the fragment: `#sso=refused`, `not_allowed` (no role is " +
		"assigned to the user), `unavailable` or `busy`.",
	"list-tokens": "Your own tokens; all tokens for admins everywhere.",
	"create-token": "Returns the token once. It belongs to the calling user, never has more rights than that user, " +
		"and is deleted with the user. Requires a session: only an admin's token can create other tokens.",
	"get-token": "One of your tokens; any token for admins everywhere.",
	"delete-token": "All masters refuse the token within seconds, and sessions created with it end. A token that " +
		"is not an admin's can delete only itself. The last token with admin access cannot be deleted.",
	"list-users": "Passwords are never returned. For admins everywhere.",
	"create-user": "A user has a role everywhere, roles in groups, or both. A user without a password cannot log " +
		"in, but can own tokens, for example for a service.",
	"get-user": "For admins everywhere; other users read themselves with GET /auth/me.",
	"patch-user": "Changes the given fields. If the password or a role changes, or the user is disabled, the " +
		"user's sessions end within seconds; the rights of the user's tokens change with those of the user. The " +
		"last admin who can log in cannot lose the role.",
	"delete-user": "The user's tokens are deleted, and its sessions end within seconds. The last admin who can log " +
		"in cannot be deleted.",
}
