package strict

// alsoCalled has the fields for which other schedulers have a name that does not resemble ours: users who move from
// them write it first.
var alsoCalled = map[string]string{
	"cron": "cronExpr", "crontab": "cronExpr", "expression": "cronExpr", "schedule": "cronExpr", "spec": "cronExpr",
	"tz":  "timezone",
	"cmd": "command", "exec": "command", "run": "command", "script": "command",
	"cwd": "workDir", "workingDir": "workDir",
	"environment": "env", "environmentVariables": "env",
	"owner": "user", "runAs": "user",
	"tags":      "labels",
	"enabled":   "paused",
	"suspend":   "paused",
	"dependsOn": "after", "depends_on": "after", "needs": "after", "upstream": "after",
	"if":           "when",
	"trigger_rule": "rule",
	"attempts":     "max", "limit": "max", "count": "max",
	"delay": "backoff", "interval": "backoff",
	"retries":  "retry",
	"channels": "to",
}
