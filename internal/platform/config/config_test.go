package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// parse makes a flag set as a daemon does.
func parse(t *testing.T, declare func(*pflag.FlagSet), args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	declare(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	return fs
}

func TestDefaults(t *testing.T) {
	m, err := LoadMaster(parse(t, MasterFlags), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.HTTP.Listen != "127.0.0.1:7070" || m.Timezone != "UTC" || m.Etcd.Endpoints[0] != "http://127.0.0.1:2379" ||
		m.MongoDB.URI.Reveal() != "mongodb://127.0.0.1:27017" || m.MongoDB.Database != "carillon" ||
		m.Log.Format != "text" {
		t.Errorf("master: %+v", m)
	}
	w, err := LoadWorker(parse(t, WorkerFlags), []string{"HOME=/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	if !common.ValidName(w.Name) || w.DataDir != "/home/ann/.local/state/carillon-worker" || w.Slots != 1000 ||
		w.MetricsListen != "127.0.0.1:7071" || w.DrainTimeout != time.Minute || w.SpoolMax != 1<<30 ||
		w.OutboxMax != 160<<20 {
		t.Errorf("worker: %+v", w)
	}
	d, err := LoadStandalone(parse(t, StandaloneFlags), []string{"HOME=/home/ann", "XDG_STATE_HOME=/state"})
	if err != nil {
		t.Fatal(err)
	}
	if d.DataDir != "/state/carillon" || d.HTTP.Listen != "127.0.0.1:7070" || d.Timezone != "UTC" {
		t.Errorf("standalone: %+v", d)
	}
}

func TestStateDirectoryOfSystemdWins(t *testing.T) {
	w, err := LoadWorker(parse(t, WorkerFlags), []string{"HOME=/h", "STATE_DIRECTORY=/var/lib/private/x:/other"})
	if err != nil || w.DataDir != "/var/lib/private/x" {
		t.Errorf("dataDir %q, %v", w.DataDir, err)
	}
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worker.yaml")
	write(t, file, "slots: 20\ndataDir: /from/file\n")
	env := []string{"CARILLON_SLOTS=30", "CARILLON_CONFIG=" + file, "CARILLON_DATA_DIR="}
	for _, c := range []struct {
		args  []string
		env   []string
		slots int
	}{
		{nil, []string{"CARILLON_CONFIG=" + file}, 20},
		{[]string{"--config", file}, nil, 20},
		{nil, env, 30},
		{[]string{"--slots=40"}, env, 40},
	} {
		w, err := LoadWorker(parse(t, WorkerFlags, c.args...), c.env)
		if err != nil {
			t.Fatal(err)
		}
		if w.Slots != c.slots || w.DataDir != "/from/file" {
			t.Errorf("%q: slots %d, dataDir %q; want %d, /from/file", c.args, w.Slots, w.DataDir, c.slots)
		}
	}
}

func TestListsReplaceBelowAndGatherOnTheCommandLine(t *testing.T) {
	env := []string{"CARILLON_ETCD_ENDPOINTS=http://env:1", "HOME=/h"}
	w, err := LoadWorker(parse(t, WorkerFlags, "--etcd-endpoints=a:1,b:2", "--etcd-endpoints=https://c:3"), env)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(w.Etcd.Endpoints); got != "[http://a:1 http://b:2 https://c:3]" {
		t.Errorf("endpoints %s", got)
	}
	w, err = LoadWorker(parse(t, WorkerFlags, "--labels=zone=a,disk=ssd"), env)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(w.Etcd.Endpoints); got != "[http://env:1]" {
		t.Errorf("endpoints %s", got)
	}
	if !reflect.DeepEqual(w.Labels, map[string]string{"zone": "a", "disk": "ssd"}) {
		t.Errorf("labels %v", w.Labels)
	}
}

func TestInvalidSecrets_AreRejected(t *testing.T) {
	for text, want := range map[string]string{
		"db":                    "must be name=value",
		"db=/a,db=/b":           "twice",
		"db=password":           "absolute path",
		"db=":                   "absolute path",
		"DB=/a":                 `name "DB"`,
		"=/a":                   `name ""`,
		"a\x1b[2Jb=/a":          "name",
		"a=/a,b":                "must be name=value",
		many("s%d=/s", 65, ","): "at most 64",
	} {
		_, err := LoadWorker(parse(t, WorkerFlags), []string{"HOME=/h", "CARILLON_SECRETS=" + text})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	d, err := LoadStandalone(parse(t, StandaloneFlags, "--secrets", "db=/a,api=/b"), []string{"HOME=/h"})
	if err != nil || !reflect.DeepEqual(d.Secrets, map[string]string{"db": "/a", "api": "/b"}) {
		t.Errorf("%v, %v", d.Secrets, err)
	}
}

func TestSecretGroups(t *testing.T) {
	files := []string{"HOME=/h", "CARILLON_SECRETS=db=/a,api=/b"}
	for text, want := range map[string]string{
		"db":             "must be name=value",
		"db=":            `the group ""`,
		"db=shop+":       `the group ""`,
		"db= ":           `the group`,
		"db=Shop":        `the group "Shop"`,
		"db=a,db=b":      "twice",
		"dbx=shop":       `names "dbx", which is not one of secrets`,
		"db=shop,api= *": "the group",
	} {
		_, err := LoadWorker(parse(t, WorkerFlags), append(files, "CARILLON_SECRET_GROUPS="+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	d, err := LoadStandalone(parse(t, StandaloneFlags, "--secret-groups", "db=shop+billing,api=*"), files)
	if err != nil || !reflect.DeepEqual(d.SecretGroups, map[string][]string{"db": {"shop", "billing"}, "api": {"*"}}) {
		t.Errorf("%v, %v", d.SecretGroups, err)
	}
}

func many(format string, n int, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, between)
}

func TestGoodFiles(t *testing.T) {
	m, err := LoadMaster(parse(t, MasterFlags, "--config", "testdata/good/master.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !m.HTTP.InsecureHTTP || len(m.HTTP.TrustedProxies) != 2 ||
		m.HTTP.TrustedProxies[0] != netip.MustParsePrefix("10.0.0.5/32") ||
		len(m.Etcd.Endpoints) != 2 || m.Etcd.Password.Reveal() != "from-the-file" || m.Timezone != "Asia/Shanghai" ||
		m.Log.Level != slog.LevelDebug || m.Log.Format != "json" || !m.HTTP.Secure() {
		t.Errorf("master: %+v", m)
	}
	w, err := LoadWorker(parse(t, WorkerFlags, "--config", "testdata/good/worker.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Name != "bell-1" || w.Labels["rack"] != "12" ||
		!reflect.DeepEqual(w.Secrets, map[string]string{
			"db":         "/etc/carillon/db.password",
			"mail-relay": "/run/credentials/carillon-worker.service/mail",
		}) || !reflect.DeepEqual(w.SecretGroups, map[string][]string{"db": {"shop", "billing"}, "mail-relay": {"*"}}) ||
		w.Slots != 50 || w.DrainTimeout != 90*time.Second || w.SpoolMax != 512<<20 || w.OutboxMax != 1<<30 ||
		w.MetricsListen != "" {
		t.Errorf("worker: %+v", w)
	}
	if _, err := LoadStandalone(parse(t, StandaloneFlags, "--config", "testdata/good/standalone.yaml"),
		nil); err != nil {
		t.Error(err)
	}
}

// Some editors begin a text with a byte-order mark.
func TestFileWithMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(path, []byte("\ufeffname: bell-1\ndataDir: /srv\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := LoadWorker(parse(t, WorkerFlags, "--config", path), nil); err != nil || w.Name != "bell-1" {
		t.Errorf("%q, %v", w.Name, err)
	}
}

// Each bad file is refused with all its faults, each with its line.
func TestBadFiles(t *testing.T) {
	worker := func(fs *pflag.FlagSet) error { _, err := LoadWorker(fs, []string{"HOME=/h"}); return err }
	master := func(fs *pflag.FlagSet) error { _, err := LoadMaster(fs, nil); return err }
	for _, c := range []struct {
		file    string
		declare func(*pflag.FlagSet)
		load    func(*pflag.FlagSet) error
		want    []string
	}{
		{"master.yaml", MasterFlags, master, []string{
			`master.yaml:3: unknown key "etcd.endpoint"; did you mean etcd.endpoints?`,
			`master.yaml:5: unknown key "timeZone"; did you mean timezone?`,
			`master.yaml:6: timezone "Mars/Olympus" is not a known time zone`,
			`master.yaml:7: auditRetention must be 0, or a duration of at least a day`,
			`master.yaml:8: logLevel must be debug, info, warn or error`,
			`master.yaml:9: maxJobs must be a whole number`,
			`master.yaml:10: metricsMaxJobs must be a whole number from 0 to 20000`,
			`listen: 0.0.0.0:7070 is reachable from other machines without TLS`,
			`etcd.username: needs etcd.password`,
		}},
		{"worker.yaml", WorkerFlags, worker, []string{
			`worker.yaml:1: name must be`,
			`worker.yaml:2: labels`,
			`worker.yaml:3: slots must be a whole number from 1 to 100000`,
			`worker.yaml:4: unknown key "drain_timeout"; did you mean drainTimeout?`,
			`worker.yaml:5: metricsListen 0.0.0.0:7071 is reachable from other machines`,
			`worker.yaml:6: dataDir must be a plain value`,
			`worker.yaml:7: spoolMax must be a size from 16MiB to 1TiB, such as 512MiB`,
			`worker.yaml:8: outboxMax must be a size from 16MiB to 64GiB, such as 512MiB`,
		}},
		{"twice.yaml", WorkerFlags, worker, []string{`twice.yaml:2: `, "slots"}},
		{"indent.yaml", WorkerFlags, worker, []string{`indent.yaml:`}},
		{"list.yaml", WorkerFlags, worker, []string{`list.yaml:1: must be a mapping`}},
		{"missing.yaml", WorkerFlags, worker, []string{`--config: open testdata/bad/missing.yaml`}},
	} {
		t.Run(c.file, func(t *testing.T) {
			err := c.load(parse(t, c.declare, "--config", filepath.Join("testdata/bad", c.file)))
			if common.CodeOf(err) != common.CodeInvalid {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the reason has more than one line:\n%v", err)
			}
		})
	}
}

func TestUnknownVariables(t *testing.T) {
	_, err := LoadWorker(parse(t, WorkerFlags), []string{"HOME=/h", "CARILLON_SLOT=5", "CARILLON_WHATEVER=1"})
	if err == nil || !strings.Contains(err.Error(), `unknown variable "CARILLON_SLOT"; did you mean CARILLON_SLOTS?`) ||
		!strings.Contains(err.Error(), `unknown variable "CARILLON_WHATEVER"`) {
		t.Errorf("error %v", err)
	}
	// A master's setting, a command's own and an empty one do not stop a worker.
	_, err = LoadWorker(parse(t, WorkerFlags), []string{"HOME=/h", "CARILLON_TIMEZONE=UTC", "CARILLON_RUN_ID=x",
		"CARILLON_NONSENSE="})
	if err != nil {
		t.Error(err)
	}
}

// Beyond loopback an API that runs commands needs TLS, or a proxy known by name.
func TestListening(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	for _, c := range []struct {
		args string
		want string
	}{
		{"--listen=127.0.0.1:0", ""},
		{"--listen=[::1]:7070", ""},
		{"--listen=localhost:7070", ""},
		{"--listen=:7070", "reachable from other machines without TLS"},
		{"--listen=0.0.0.0:7070", "reachable from other machines without TLS"},
		{"--listen=[::]:7070", "reachable from other machines without TLS"},
		{"--listen=example.com:7070", "reachable from other machines without TLS"},
		{"--listen=0.0.0.0:7070 --insecure-http", "needs trustedProxies"},
		{"--listen=0.0.0.0:7070 --insecure-http=false --trusted-proxies=10.0.0.1", "without TLS"},
		{"--listen=0.0.0.0:7070 --insecure-http --trusted-proxies=10.0.0.1", ""},
		{"--listen=0.0.0.0:7070 --tls-cert=" + cert + " --tls-key=" + key, ""},
		{"--listen=0.0.0.0:7070 --tls-cert=" + cert, "need each other"},
		{"--listen=0.0.0.0:7070 --tls-client-ca=" + cert, "need each other"},
		{"--tls-cert=" + cert + " --tls-key=" + key + " --tls-client-ca=" + cert, ""},
		{"--tls-cert=" + cert + " --tls-key=" + key + " --tls-client-ca=" + key, "contains no certificate"},
		{"--listen=0.0.0.0:7070 --tls-cert=" + cert + " --tls-key=" + cert, "tls: "},
		{"--insecure-http --trusted-proxies=10.0.0.1 --tls-cert=" + cert + " --tls-key=" + key, "excludes"},
	} {
		_, err := LoadMaster(parse(t, MasterFlags, strings.Fields(c.args)...), nil)
		checkError(t, c.args, err, c.want)
		_, err = LoadStandalone(parse(t, StandaloneFlags, strings.Fields(c.args)...), []string{"HOME=/h"})
		checkError(t, c.args, err, c.want)
	}
}

func TestInvalidFlags_AreRejected(t *testing.T) {
	for _, arg := range []string{"--listen=7070", "--listen=a:b", "--listen=127.0.0.1:70700",
		"--trusted-proxies=0.0.0.0/0", "--trusted-proxies=proxy",
		"--etcd-endpoints=ftp://a:1", "--etcd-endpoints=a", "--etcd-endpoints=http://u:p@a:1",
		"--etcd-endpoints=http://a:1/v3", "--etcd-endpoints=http://a:1?x", "--etcd-endpoints=http://a:1#x",
		"--timezone=Local",
		"--mongodb-uri=http://a", "--mongodb-uri=mongodb://u:secret@h", "--mongodb-database=a.b", "--etcd-password=x",
		"--insecure-http=maybe"} {
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		MasterFlags(fs)
		if err := fs.Parse([]string{arg}); err == nil {
			t.Errorf("%s was taken", arg)
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	password, empty := filepath.Join(dir, "etcd.password"), filepath.Join(dir, "empty")
	write(t, password, "hunter2\n")
	write(t, empty, "\n")
	for _, c := range []struct {
		name string
		env  []string
		want string
		err  string
	}{
		{"file", []string{"CARILLON_ETCD_PASSWORD_FILE=" + password}, "hunter2", ""},
		{"environment", []string{"CARILLON_ETCD_PASSWORD=plain"}, "plain", ""},
		{"credential", []string{"CREDENTIALS_DIRECTORY=" + dir}, "hunter2", ""},
		{"environment before credential", []string{"CREDENTIALS_DIRECTORY=" + dir, "CARILLON_ETCD_PASSWORD=plain"},
			"plain", ""},
		{"both", []string{"CARILLON_ETCD_PASSWORD=plain", "CARILLON_ETCD_PASSWORD_FILE=" + password}, "", "excludes"},
		{"empty", []string{"CARILLON_ETCD_PASSWORD_FILE=" + empty}, "", "is empty"},
		{"missing", []string{"CARILLON_ETCD_PASSWORD_FILE=" + dir + "/none"}, "", "no such file"},
	} {
		m, err := LoadMaster(parse(t, MasterFlags, "--etcd-username=u"), c.env)
		checkError(t, c.name, err, c.err)
		if c.err == "" && m.Etcd.Password.Reveal() != c.want {
			t.Errorf("%s: password %q, want %q", c.name, m.Etcd.Password.Reveal(), c.want)
		}
		if again, err := m.Etcd.Password.Reload(); c.err == "" && (err != nil || again != c.want) {
			t.Errorf("%s: reloaded password %q, %v", c.name, again, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret", c.name)
		}
	}
	changing := filepath.Join(dir, "changing")
	write(t, changing, "old\n")
	m, err := LoadMaster(parse(t, MasterFlags, "--etcd-username=u"),
		[]string{"CARILLON_ETCD_PASSWORD_FILE=" + changing})
	checkError(t, "changing", err, "")
	write(t, changing, "new\n")
	if again, err := m.Etcd.Password.Reload(); err != nil || again != "new" || m.Etcd.Password.Reveal() != "old" {
		t.Errorf("a changed file reloads as %q, %v", again, err)
	}
	uri := filepath.Join(dir, "uri")
	write(t, uri, "http://u:hunter2@h")
	_, err = LoadMaster(parse(t, MasterFlags, "--mongodb-uri-file="+uri), nil)
	checkError(t, "uri", err, "must begin with mongodb://")
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the error shows the secret")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	m := Master{Etcd: Etcd{Password: NewSecret("hunter2")}}
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "%v %+v %#v %s", m, m, m, m.Etcd.Password)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("config", "password", m.Etcd.Password, "all", m)
	if err := json.NewEncoder(&out).Encode(m); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("the secret shows in %s", out.String())
	}
}

func TestNameFrom(t *testing.T) {
	for host, want := range map[string]string{
		"bell-1": "bell-1", "Bell.Example.COM": "bell.example.com", "a..b": "a.b", "-x-": "x",
		"büro 7": "b-ro-7", "…": "",
		strings.Repeat("x", 300): strings.Repeat("x", 128),
	} {
		if got := nameFrom(host); got != want {
			t.Errorf("%q became %q, want %q", host, got, want)
		}
		if want != "" && !common.ValidName(nameFrom(host)) {
			t.Errorf("%q became no name", host)
		}
	}
}

func checkError(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: error %v, want one with %q", what, err, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"16MiB":          16 << 20,
		"1024MiB":        1 << 30,
		"3GiB":           3 << 30,
		"1TiB":           1 << 40,
		"20000KiB":       20000 << 10,
		"":               0,
		"16":             0,
		"MiB":            0,
		"-16MiB":         0,
		"+":              0,
		"1GB":            0,
		"16 MiB":         0,
		"1.5GiB":         0,
		"15MiB":          0,
		"2TiB":           0,
		"99999999999TiB": 0,
		"16MiBMiB":       0,
	} {
		var got int64
		if err := sizeValue(&got, 16<<20, 1<<40)(text); (err == nil) != (want > 0) || got != want {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for n, want := range map[int64]string{
		16 << 20:   "16MiB",
		1 << 30:    "1GiB",
		1 << 40:    "1TiB",
		1536 << 20: "1536MiB",
		4096 << 40: "4096TiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
