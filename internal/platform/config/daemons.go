package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// API holds the settings of a process that serves the API.
type API struct {
	HTTP     HTTP
	OIDC     OIDC
	Timezone string // default time zone of jobs
	// AuditRetention is how long it is kept who changed what; 0 is for ever.
	AuditRetention time.Duration
	Limits         Limits
	// MetricsMaxJobs is how many jobs have metrics of their own.
	MetricsMaxJobs int
	Notify         Notify
}

// Node holds the settings of a process that runs commands.
type Node struct {
	Name    string
	DataDir string
	Labels  map[string]string
	Secrets map[string]string // files of secrets to mask, by name
	// SecretGroups are the groups in whose runs a secret is masked, by its name.
	SecretGroups map[string][]string
	Slots        int
	// BackgroundShare is the share of the slots, in percent, that runs of backfills may use.
	BackgroundShare int
	DrainTimeout    time.Duration
	SpoolMax        int64 // bytes of output on disk while the log store is unavailable
	OutboxMax       int64 // bytes of outcomes in etcd, of all workers together, while the log store is unavailable
	Execution       Execution
}

// Master holds the settings of carillon-master.
type Master struct {
	API
	Etcd    Etcd
	MongoDB MongoDB
	Log     Log
}

// Worker holds the settings of carillon-worker.
type Worker struct {
	Node
	MetricsListen string // host:port on loopback, unix:/path, or "" for none
	SecretsKey    Secret // keys in base64 that decrypt the secrets of jobs
	Etcd          Etcd
	MongoDB       MongoDB
	Log           Log
}

// Standalone holds the settings of carillon-standalone.
type Standalone struct {
	API
	Node
	Log Log
}

// Limits bound the number and the total size of job definitions, in all and per group; 0 is unlimited.
type Limits struct {
	Jobs, GroupJobs   int
	Bytes, GroupBytes int64
}

func (l *Limits) declare(s *settings) {
	s.number(&l.Jobs, "maxJobs", 500_000, 0, 10_000_000, "maximum number of jobs; 0 for unlimited")
	s.size(&l.Bytes, "maxJobBytes", 512<<20, 0, 1<<40, "maximum total size of all job definitions; 0 for unlimited")
	s.number(&l.GroupJobs, "maxGroupJobs", 50_000, 0, 10_000_000, "maximum number of jobs in a group; 0 for unlimited")
	s.size(&l.GroupBytes, "maxGroupJobBytes", 64<<20, 0, 1<<40,
		"maximum total size of the job definitions in a group; 0 for unlimited")
}

func absolute(text string) error {
	if text != "" && !filepath.IsAbs(text) {
		return fmt.Errorf("must be an absolute path")
	}
	return nil
}

// DefaultDrainTimeout is how long a stopping worker waits for its runs. The systemd units allow more time than
// this.
const DefaultDrainTimeout = time.Minute

func (m *Master) settings() *settings {
	s := &settings{program: "carillon-master"}
	m.API.declare(s, "")
	m.Etcd.declare(s)
	m.MongoDB.declare(s)
	m.Log.declare(s)
	return s
}

func (w *Worker) settings() *settings {
	s := &settings{program: "carillon-worker"}
	w.Node.declare(s, "carillon-worker", DefaultTypesDir)
	s.secret(&w.SecretsKey, "secretsKey",
		"key that decrypts the secrets of jobs, the same as on the masters; without it this worker refuses jobs that "+
			"refer to secrets.", secretsKey)
	s.add("metricsListen", "address", "127.0.0.1:7071",
		"address of /metrics and /readyz: loopback, unix:/path, or off", localAddress(&w.MetricsListen))
	w.Etcd.declare(s)
	w.MongoDB.declare(s)
	w.Log.declare(s)
	return s
}

func (d *Standalone) settings() *settings {
	s := &settings{program: "carillon-standalone"}
	d.Node.declare(s, "carillon", "")
	d.API.declare(s, " (default: created at the first start, in <data-dir>/secrets.key)")
	d.Log.declare(s)
	return s
}

// declare declares the settings; defaultKey describes the default of the secrets key.
func (a *API) declare(s *settings, defaultKey string) {
	a.HTTP.declare(s)
	a.OIDC.declare(s)
	s.text(&a.Timezone, "timezone", "zone", "UTC", "time zone of jobs without one, stored when they are saved", zone)
	s.add("auditRetention", "duration", "400d",
		"retention of the audit and of job versions, such as 400d; 0 for unlimited", func(text string) error {
			d, err := common.Duration(text).Value()
			if err != nil || d != 0 && d < 24*time.Hour {
				return fmt.Errorf("must be 0, or a duration of at least a day, such as 400d")
			}
			a.AuditRetention = d
			return nil
		})
	a.Limits.declare(s)
	s.number(&a.MetricsMaxJobs, "metricsMaxJobs", 1000, 0, 20_000,
		"number of jobs, first by name, with their own metrics on the elected master, at most 11 series each; 0 for "+
			"none")
	a.Notify.declare(s, defaultKey)
}

func (a *API) check() []common.Fault {
	return slices.Concat(a.HTTP.check(), a.Notify.check(), a.OIDC.check(a.Notify.PublicURL))
}

// declare declares the settings; folder is the name of the default data folder, and plugIns the default
// folder of plug-ins.
func (n *Node) declare(s *settings, folder, plugIns string) {
	s.text(&n.Name, "name", "name", "",
		"display name, to which jobs can be pinned (default: this machine's host name)", workerName)
	s.text(&n.DataDir, "dataDir", "folder", "",
		"folder for persistent data (default: $STATE_DIRECTORY, else $XDG_STATE_HOME/"+folder+
			", else ~/.local/state/"+folder+")")
	s.add("labels", "labels", "", "labels for the selectors of jobs, such as zone=a,disk=ssd", labelsValue(&n.Labels))
	s.add("secrets", "files", "",
		"files of secrets to mask in the output of commands, such as db=/etc/carillon/db.password; 8 to 4096 bytes "+
			"each, loaded again when they change", secretsValue(&n.Secrets))
	s.add("secretGroups", "groups", "",
		"groups in whose runs a file of secrets is masked, such as db=shop+billing, or db=* for all; without an entry "+
			"only in commands as the worker's own user, which could read the file", secretGroupsValue(&n.SecretGroups))
	s.number(&n.Slots, "slots", 1000, 1, 100_000, "number of slots for concurrent runs")
	s.number(&n.BackgroundShare, "backgroundShare", 50, 1, 100,
		"share of the slots, in percent, that runs of backfills may use; at least one slot")
	s.duration(&n.DrainTimeout, "drainTimeout", DefaultDrainTimeout, 0, 24*time.Hour,
		"how long a stop waits for active runs before it ends them")
	s.size(&n.SpoolMax, "spoolMax", 1<<30, 16<<20, 1<<40,
		"maximum disk space for output while the log store is unavailable; the oldest output is dropped first")
	s.size(&n.OutboxMax, "outboxMax", 160<<20, 16<<20, 64<<30,
		"maximum size of outcomes in etcd while the log store is unavailable, of all workers together; above it "+
			"fires wait. Must be the same on all workers, and well below etcd's quota")
	n.Execution.declare(s, plugIns)
}

func workerName(text string) error {
	if !common.ValidName(text) {
		return errors.New(common.NameRule)
	}
	return nil
}

// check returns the faults of settings that depend on each other.
func (n *Node) check() (faults common.Faults) {
	for _, secret := range slices.Sorted(maps.Keys(n.SecretGroups)) {
		if n.Secrets[secret] == "" {
			faults.Add("secretGroups", "unknown", nil, "names %q, which is not one of secrets", common.Shorten(secret))
		}
	}
	return faults
}

// MasterFlags declares the flags of carillon-master.
func MasterFlags(fs *pflag.FlagSet) { new(Master).settings().flags(fs) }

// LoadMaster reads the settings of carillon-master; fs has been parsed.
func LoadMaster(fs *pflag.FlagSet, environ []string) (Master, error) {
	var m Master
	s := m.settings()
	faults := s.load(fs, environmentOf(environ))
	m.MongoDB.complete()
	faults = slices.Concat(faults, m.API.check(), m.Etcd.check())
	return m, s.refused(faults)
}

// LoadBootstrap reads the settings of "carillon-master bootstrap", which only connects to etcd and does not
// listen.
func LoadBootstrap(fs *pflag.FlagSet, environ []string) (Etcd, error) {
	var m Master
	s := m.settings()
	faults := s.load(fs, environmentOf(environ))
	return m.Etcd, s.refused(append(faults, m.Etcd.check()...))
}

// LoadReseal reads the settings of "carillon-master reseal": etcd and the keys.
func LoadReseal(fs *pflag.FlagSet, environ []string) (Etcd, Secret, error) {
	var m Master
	s := m.settings()
	faults := s.load(fs, environmentOf(environ))
	if m.Notify.SecretsKey.Empty() {
		faults.Add("secretsKey", "required", nil, "is required")
	}
	return m.Etcd, m.Notify.SecretsKey, s.refused(append(faults, m.Etcd.check()...))
}

// WorkerFlags declares the flags of carillon-worker.
func WorkerFlags(fs *pflag.FlagSet) { new(Worker).settings().flags(fs) }

// LoadWorker reads the settings of carillon-worker; fs has been parsed.
func LoadWorker(fs *pflag.FlagSet, environ []string) (Worker, error) {
	var w Worker
	s, env := w.settings(), environmentOf(environ)
	faults := s.load(fs, env)
	w.MongoDB.complete()
	faults = slices.Concat(faults, w.Node.complete(env, "carillon-worker"), w.Node.check(), w.Etcd.check())
	return w, s.refused(faults)
}

// LoadHome reads the setting of "carillon-worker id": the worker's data folder.
func LoadHome(fs *pflag.FlagSet, environ []string) (string, error) {
	var w Worker
	s, env := w.settings(), environmentOf(environ)
	faults := append(s.load(fs, env), w.Node.complete(env, "carillon-worker")...)
	return w.DataDir, s.refused(faults)
}

// StandaloneFlags declares the flags of carillon-standalone.
func StandaloneFlags(fs *pflag.FlagSet) { new(Standalone).settings().flags(fs) }

// LoadStandalone reads the settings of carillon-standalone; fs has been parsed.
func LoadStandalone(fs *pflag.FlagSet, environ []string) (Standalone, error) {
	var d Standalone
	s, env := d.settings(), environmentOf(environ)
	faults := s.load(fs, env)
	faults = slices.Concat(faults, d.Node.complete(env, "carillon"), d.Node.check(), d.API.check())
	return d, s.refused(faults)
}

// LocalAPI returns the settings of an API for this machine only: the defaults with an address and a time zone.
func LocalAPI(listen, timezone string) (API, error) {
	var a API
	s := &settings{program: "carillon/local"}
	a.declare(s, "")
	var faults common.Faults
	if err := s.find("listen").value.Set(listen); err != nil {
		faults.Add("listen", "value", nil, "%s", err)
	} else if !Loopback(listen) {
		faults.Add("listen", "insecure", nil, "%s is reachable from other machines", listen)
	}
	if err := s.find("timezone").value.Set(timezone); err != nil {
		faults.Add("timezone", "value", nil, "%s", err)
	}
	return a, s.refused(faults)
}

// complete fills in settings that depend on the machine.
func (n *Node) complete(env environment, folder string) (faults common.Faults) {
	if n.Name == "" {
		host, err := os.Hostname()
		if n.Name = nameFrom(host); err != nil || n.Name == "" {
			faults.Add("name", "required", nil, "is required: this machine's host name cannot be used")
		}
	}
	if n.DataDir == "" {
		n.DataDir = stateDir(env, folder)
	}
	if n.DataDir == "" {
		faults.Add("dataDir", "required", nil, "is required: no home directory")
		return faults
	}
	absolute, err := filepath.Abs(n.DataDir)
	if err != nil {
		faults.Add("dataDir", "file", nil, "%s", err)
	}
	n.DataDir = absolute
	return faults
}

// stateDir returns the folder for state: that of systemd, or of the XDG base directory specification.
func stateDir(env environment, folder string) string {
	if first, _, _ := strings.Cut(env["STATE_DIRECTORY"], ":"); first != "" {
		return first
	}
	if dir := env["XDG_STATE_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, folder)
	}
	if dir := env["HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, ".local", "state", folder)
	}
	return ""
}

// nameFrom derives a name from a host name: lower case, with dashes for invalid characters.
func nameFrom(host string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	for strings.Contains(name, "..") {
		name = strings.ReplaceAll(name, "..", ".")
	}
	if len(name) > common.MaxName {
		name = name[:common.MaxName]
	}
	return strings.Trim(name, "._-")
}
