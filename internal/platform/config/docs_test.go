package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const page = "../../../docs/configuration.md"

// The page of settings is made from the declarations.
func TestConfigurationPage(t *testing.T) {
	want := document()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run make generate", page)
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Made from the declarations in internal/platform/config by "make generate". Do not edit. -->

Every setting can be given as a flag, as an environment variable or as a key of a YAML file (` + "`--config FILE` or" + `
` + "`$CARILLON_CONFIG`" + `). Precedence: flag, environment variable, file, default. An empty variable counts as absent. An
unknown name is rejected, with a suggestion of the closest known one; all faults are listed at once, and the daemon
exits with code ` + fmt.Sprint(ExitCode) + `.

Lists are separated by commas, or YAML lists; labels and secrets are written as ` + "`a=b,c=d`" + `, or as a YAML mapping.
Durations look like ` + "`90s`, `5m`, `1h30m`" + `. Passwords have no flag, because every user of the machine can read a command
line. Give them in a file (the keys that end in ` + "`File`" + `), or as a systemd credential with the name of the key
(` + "`LoadCredential=etcd.password:/etc/carillon/etcd.password`" + `).

Daemons read these variables as well. An unknown variable ` + "`CARILLON_…`" + ` is rejected. Variables of ` + "`cronctl`" + ` are
described in [cronctl.md](cronctl.md#server-and-login), variables for commands of jobs in
[jobs.md](jobs.md#environment-of-a-command).

| Variable | Meaning |
|---|---|
| ` + "`CARILLON_CONFIG`" + ` | settings file, as ` + "`--config`" + ` |
| ` + "`STATE_DIRECTORY`, `XDG_STATE_HOME`, `HOME`" + ` | location of the default data folder |
| ` + "`CREDENTIALS_DIRECTORY`" + ` | systemd credentials: passwords and keys, named like their settings |
| ` + "`NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`, `JOURNAL_STREAM`" + ` | systemd: readiness, watchdog, priorities of log lines |
| ` + "`SSL_CERT_FILE`, `SSL_CERT_DIR`" + ` | CA certificates of the system, for mail, webhooks and single sign-on |
| ` + "`GOGC`, `GOMEMLIMIT`" + ` | memory management of Go |
| ` + "`OTEL_EXPORTER_OTLP_ENDPOINT`" + ` | of worker and standalone: export [traces](deploy.md#traces) to this OTLP/HTTP receiver, such as ` + "`http://127.0.0.1:4318`" + `; without it none are exported |
| ` + "`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`" + `, further ` + "`OTEL_EXPORTER_OTLP_…`, `OTEL_BSP_…`" + ` | as [OpenTelemetry](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/) defines them; commands do not see them |
`)
	for _, s := range []*settings{new(Master).settings(), new(Worker).settings(), new(Standalone).settings()} {
		fmt.Fprintf(&b, "\n## %s\n\n| Key | Flag | Variable | Default | Meaning |\n|---|---|---|---|---|\n", s.program)
		for _, one := range s.list {
			flag, def := "`--"+one.flag()+"`", ""
			if one.noFlag {
				flag = "none"
			}
			if one.def != "" {
				def = "`" + one.def + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s |\n", one.key, flag, one.env(), def, one.help)
		}
	}
	return b.String()
}

// A name is used once, and every key has a meaning.
func TestDeclarations(t *testing.T) {
	for _, s := range []*settings{new(Master).settings(), new(Worker).settings(), new(Standalone).settings()} {
		seen := map[string]bool{}
		for _, one := range s.list {
			if seen[one.env()] || one.help == "" || isForeign(one.env()) {
				t.Errorf("%s: %s", s.program, one.key)
			}
			seen[one.env()] = true
		}
	}
}
