package crontab

import (
	"strings"
	"testing"
)

func TestSuggest_NamesTheProgramThatDoesTheWork(t *testing.T) {
	for command, want := range map[string]string{
		"nice -n 19 /usr/local/bin/backup.sh":                                    "backup",
		"nice -19 /opt/x.sh":                                                     "x",
		"nice /usr/bin/updatedb":                                                 "updatedb",
		"ionice -c 2 -n 7 nice -n 10 /usr/bin/rsync -a /a /b":                    "rsync",
		"ionice -c3 -p $$ && /opt/x.sh":                                          "x",
		"/usr/bin/nice -n 19 /usr/bin/ionice -c2 -n7 /bin/bash -c '/opt/y.sh'":   "y",
		"timeout -k 10 5m /opt/app/run.sh":                                       "run",
		"timeout --signal=KILL 300 python3 /srv/app/import.py":                   "import",
		"/usr/bin/env python3 /srv/app/import.py":                                "import",
		"/usr/bin/env -S python3 -u /srv/app/import.py":                          "import",
		"env -i PATH=/bin /srv/app/import.sh":                                    "import",
		"env -u HOME A=1 /srv/app/import.sh":                                     "import",
		"chronic /usr/local/bin/check":                                           "check",
		"flock -n /var/lock/sync -c '/usr/local/bin/sync.sh --all'":              "sync",
		`flock -xn /run/lock/x.lck -c "cd /srv/app && php artisan schedule:run"`: "artisan-schedule-run",
		"flock -n -E 0 /tmp/lock /opt/x.sh":                                      "x",
		"(flock -n 9 || exit 1; /opt/x.sh) 9>/tmp/lock":                          "x",
		"sudo -u www-data php /var/www/html/cron.php":                            "cron",
		"sudo -iu postgres psql -c 'VACUUM'":                                     "psql",
		"sudo -n -u root -- /usr/sbin/logrotate /etc/logrotate.conf":             "logrotate",
		`su - postgres -c "pg_dumpall | gzip > /backup/all.gz"`:                  "pg-dumpall",
		"su -s /bin/sh -c '/usr/bin/foo --bar' www-data":                         "foo",
		"runuser -u nginx -- /usr/local/bin/x":                                   "x",
		`runuser postgres -c "psql -f x.sql"`:                                    "psql",
		"nohup /opt/start.sh > /dev/null 2>&1 &":                                 "start",
		"setsid -f /opt/start.sh":                                                "start",
		"/usr/bin/time -v /opt/report.sh":                                        "report",
		"time -p make report":                                                    "make-report",
		"taskset -c 0 /opt/x.sh":                                                 "x",
		"systemd-run --scope -p MemoryMax=1G /opt/x.sh":                          "x",
		"cd /srv/app && . venv/bin/activate && python manage.py clearsessions":   "manage-clearsessions",
		"cd /srv/app && source venv/bin/activate && python -m app.tasks.clean":   "app-tasks-clean",
		`test -x /usr/bin/certbot -a \! -d /run/systemd/system && ` +
			"perl -e 'sleep int(rand(43200))' && certbot -q renew": "certbot-renew",
		"which foo >/dev/null 2>&1 && foo --run":             "foo",
		"[ -d /x ] || exit 0; /opt/x.sh":                     "x",
		"bash -l -c 'source ~/.profile; report-tool daily'":  "report-tool",
		"sh -x /opt/a.sh >> /var/log/a.log 2>&1":             "a",
		"/usr/local/bin/php7.4 -c /etc/php.ini /www/a.php":   "a",
		"php -d memory_limit=512M /var/www/cron.php":         "cron",
		"$(which php) /var/www/cron.php":                     "cron",
		"java -Xmx512m -jar /opt/tool.jar --run":             "tool",
		"java -cp /opt/a.jar:/opt/b.jar com.example.Main":    "com-example-main",
		"node --max-old-space-size=4096 dist/report.js":      "report",
		"python -c 'import x; x.run()'":                      "python",
		"> /dev/null 2>&1 /opt/x.sh":                         "x",
		"2>/dev/null /opt/x.sh":                              "x",
		"for i in 1 2 3; do /opt/step.sh $i; done":           "step",
		"while read x; do /opt/step.sh $x; done < /tmp/list": "step",
		"echo begin; /opt/x.sh":                              "x",
		`date >> /tmp/log; "/opt/my tools/x.sh"`:             "x",
		"date >> /tmp/x":                                     "date",
		"sleep $((RANDOM % 60)) && /opt/x.sh":                "x",
		`eval "$(ssh-agent)" && /opt/x.sh`:                   "x",
		"poetry run python manage.py send":                   "manage-send",
		"docker exec -i -u www web php /app/cron.php":        "cron",
		"docker-compose -f /srv/x.yml run --rm worker":       "docker-compose-worker",
		"kubectl -n prod rollout restart deploy/web":         "kubectl-rollout",
		"git -C /srv/repo pull":                              "git-pull",
		"make -C /srv/app report":                            "make-report",
		"nice":                                               "nice",
		"env":                                                "env",
		"bash -c ''":                                         "bash",
		"/opt/x.sh # nightly":                                "x",
		"/opt/x.sh 'an open quote":                           "x",
	} {
		if got := suggest(Group, command, ""); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if got := suggest(Group, "python3 -c 'import x'", "Clean the cache"); got != "clean-the-cache" {
		t.Errorf("code with a comment above it: %s", got)
	}
}

func FuzzSuggest(f *testing.F) {
	for _, text := range []string{
		"bash -c \"su -c 'a; b' | $(c `d` \\", "flock -c", "a 2>&1 >(b) <<x && {", "$(($((", "'", "\\",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if name := suggest(Group, command, ""); name == "" || slug(name, len(name)) != name {
			t.Errorf("%q: name %q", command, name)
		}
		for _, words := range commandsOf(command) {
			if len(strings.Join(words, "")) > len(command)+1 { // an open substitution is closed
				t.Errorf("%q: words %q", command, words)
			}
		}
	})
}
