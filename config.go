package carillon

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/worker"
)

// Config configures an App.
type Config struct {
	// App names the program: its jobs are named <App>.<name>. The rules are those for names of jobs.
	App string
	// Group is the group of its jobs. Default: none.
	Group string
	// Build identifies this version of the program; of two builds, the one whose text sorts last is the later one.
	// Default: the time of the commit, from the build information.
	Build string
	// Name is the name of this process in the console. Default: that of the machine.
	Name string
	// Labels are the labels of this process, for the selectors of jobs.
	Labels map[string]string
	// Slots is how many functions this process runs at the same time. Default: 10.
	Slots int

	Etcd  Etcd
	Store string // URI of the MongoDB that stores runs and output
	API   API

	// Dir is a folder for the id of this process and for output that the store has not received. No other process may
	// use it. Without it, each start has another id, and output that could not be delivered is lost with the process.
	Dir string
	// SpoolMax is the maximum size of the undelivered output in bytes. Default: 256 MiB.
	SpoolMax int64
	// Drain is how long Run waits for functions after its context has ended, before it ends their contexts. Default:
	// 30 s; negative: not at all.
	Drain time.Duration
	// Strict makes the process exit with code 70 if it cannot reach etcd and a function does not return in time, before
	// another process may run its job. Without it, such a function may overlap its successor.
	Strict bool
	// KeepFlows makes the process take part in advancing the flow runs of the whole cluster.
	KeepFlows bool
	// Prune deletes the jobs of this app that this build no longer declares, unless a later build has declared them.
	Prune bool
	// Masks are texts that are replaced in the output and in errors, at least 8 bytes each. The credentials of this
	// Config are masked in any case.
	Masks []string
	// Log receives the events of the worker. Default: they are discarded.
	Log *slog.Logger
	// Local is what package carillon/local has opened, in place of Etcd, Store and API.
	Local any
}

// Etcd holds the address of etcd and the credentials.
type Etcd struct {
	Endpoints []string
	Username  string
	Password  string
	TLS       TLS
}

// API holds the address of a master and the token of an editor.
type API struct {
	URL   string // empty: the jobs are not defined by this program
	Token string
	TLS   TLS
}

// TLS names the files of a TLS client.
type TLS struct{ CA, Cert, Key string }

const (
	defaultSlots    = 10
	defaultSpoolMax = 256 << 20
	minSpoolMax     = 16 << 20
	defaultDrain    = 30 * time.Second
	outboxMax       = 160 << 20 // as a worker's default
)

// withDefaults returns the config with its defaults.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = worker.Hostname()
	}
	if c.Slots == 0 {
		c.Slots = defaultSlots
	}
	if c.SpoolMax == 0 {
		c.SpoolMax = defaultSpoolMax
	}
	if c.Drain == 0 {
		c.Drain = defaultDrain
	}
	c.Drain = max(0, c.Drain)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Build == "" {
		c.Build = buildTime()
	}
	return c
}

// check returns all faults of the config.
func (c *Config) check() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !common.ValidName(c.App) {
		add("App %q %s", c.App, common.NameRule)
	}
	if c.Group != "" && !common.ValidGroup(c.Group) {
		add("Group %q %s", c.Group, common.GroupRule)
	}
	if _, ok := c.Local.(*worker.Local); c.Local != nil && !ok {
		add("Local: must be what package carillon/local has opened")
	}
	if c.Local == nil && len(c.Etcd.Endpoints) == 0 {
		add("Etcd.Endpoints: at least one is required")
	}
	if c.Local == nil && !strings.HasPrefix(c.Store, "mongodb://") && !strings.HasPrefix(c.Store, "mongodb+srv://") {
		add("Store: must begin with mongodb:// or mongodb+srv://") // the text may contain a password
	}
	if c.Slots < 0 || c.Slots > common.MaxSlots {
		add("Slots %d: must be from 1 to %d", c.Slots, common.MaxSlots)
	}
	if c.SpoolMax < minSpoolMax {
		add("SpoolMax %d: must be at least 16 MiB", c.SpoolMax)
	}
	for _, f := range common.LabelFaults(c.Labels) {
		add("Config.%s: %s", f.Location, f.Message)
	}
	for _, f := range common.LabelFaults(map[string]string{common.LabelBuild: c.Build}) {
		add("Build %q: %s", c.Build, f.Message)
	}
	return errors.Join(faults...)
}

// secrets returns the texts that are masked.
func (c *Config) secrets() []string {
	all := slices.Clone(c.Masks)
	for _, s := range []string{c.Etcd.Password, c.API.Token, c.Store} {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}

// timeOfBuild is the layout of the default of Config.Build, a label that sorts by time.
const timeOfBuild = "20060102T150405Z"

// buildTime returns the time of the commit of this program; empty if it is unknown.
func buildTime() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
			return at.UTC().Format(timeOfBuild)
		}
	}
	return ""
}
