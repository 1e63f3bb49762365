package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"carillon/internal/common"
	"carillon/internal/platform/config"
)

// composeFile is as much of the Compose Specification as compose.yaml uses.
// Anything else in it is a mistake until it stands here.
type composeFile struct {
	Name     string
	Services map[string]service
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]struct{}

	Confined   any `yaml:"x-confined"`
	Logging    any `yaml:"x-logging"`
	Image      any `yaml:"x-image"`
	Setup      any `yaml:"x-setup"`
	Needs      any `yaml:"x-needs"`
	EtcdClient any `yaml:"x-etcd-client"`
	Etcdctl    any `yaml:"x-etcdctl"`
	Worker     any `yaml:"x-worker"`
}

type service struct {
	Image string
	Build *struct{ Context, Dockerfile, Target string }
	// Init is Docker's own process 1.
	Init            *bool
	User            string
	Restart         string
	ReadOnly        bool     `yaml:"read_only"`
	CapDrop         []string `yaml:"cap_drop"`
	CapAdd          []string `yaml:"cap_add"`
	SecurityOpt     []string `yaml:"security_opt"`
	Tmpfs           []string
	NetworkMode     string `yaml:"network_mode"`
	Networks        []string
	Ports           []string
	Command         []string
	Environment     map[string]string
	Volumes         []string
	DependsOn       map[string]struct{ Condition string } `yaml:"depends_on"`
	StopGracePeriod string                                `yaml:"stop_grace_period"`
	PidsLimit       int                                   `yaml:"pids_limit"`
	Logging         *struct {
		Driver  string
		Options map[string]string
	}
	Healthcheck *struct {
		Test              []string
		Interval, Timeout string
		Retries           int
		StartPeriod       string `yaml:"start_period"`
	}
}

func compose(t *testing.T) composeFile {
	t.Helper()
	data, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c composeFile
	if err := yaml.UnmarshalWithOptions(data, &c, yaml.Strict(), yaml.DisallowUnknownField()); err != nil {
		t.Fatal(err)
	}
	return c
}

// daemon gives the program that a service runs, with its arguments.
func (s *service) daemon() (program string, args []string) {
	if len(s.Command) == 0 {
		return "", nil
	}
	return filepath.Base(s.Command[0]), s.Command[1:]
}

func (c *composeFile) workers() (names []string) {
	for name, s := range c.Services {
		if program, _ := s.daemon(); program == "carillon-worker" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// mounts splits a service's volumes: what is mounted, by where.
func (s *service) mounts() map[string]string {
	found := map[string]string{}
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		found[parts[1]] = parts[0]
	}
	return found
}

// pinned is an image with a version of at least two numbers in its tag.
var pinned = regexp.MustCompile(`:v?[0-9]+\.[0-9]+[0-9a-z.-]*$`)

func TestComposeImagesArePinned(t *testing.T) {
	c := compose(t)
	for name, s := range c.Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s uses %s", name, s.Image)
		}
		if s.Build != nil && (s.Build.Context != ".." || s.Build.Dockerfile != "deploy/Dockerfile") {
			t.Errorf("%s is built from %+v", name, s.Build)
		}
	}
	data, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`).FindAllStringSubmatch(string(data), -1) {
		if !stages[m[1]] && !pinned.MatchString(m[1]) {
			t.Errorf("the Dockerfile builds on %s", m[1])
		}
		stages[m[2]] = true
	}
	for name, s := range c.Services {
		if s.Build != nil && !stages[s.Build.Target] {
			t.Errorf("%s is built from the stage %q, which there is not", name, s.Build.Target)
		}
	}
	toolchain := regexp.MustCompile(`(?m)^(?:toolchain go|FROM golang:)([0-9.]+)`)
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want, got := toolchain.FindSubmatch(mod), toolchain.FindSubmatch(data); want == nil || got == nil ||
		string(want[1]) != string(got[1]) {
		t.Errorf("go.mod wants %q, the Dockerfile builds with %q", want, got)
	}
	if want := regexp.MustCompile(`go\.etcd\.io/etcd/server/v3 (\S+)`).FindSubmatch(mod); want == nil ||
		!strings.HasSuffix(c.Services["etcd"].Image, ":"+string(want[1])) {
		t.Errorf("tests run etcd %q, compose.yaml %s", want, c.Services["etcd"].Image)
	}
}

// Nothing is open but the console, and that for this machine alone.
func TestCompose_PublishesOnlyTheConsole(t *testing.T) {
	c := compose(t)
	for name, s := range c.Services {
		for _, port := range s.Ports {
			if name != "master" || !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s", name, port)
			}
		}
		for _, network := range s.Networks {
			if _, known := c.Networks[network]; !known {
				t.Errorf("%s is in the network %s, which there is not", name, network)
			}
		}
		if name == "etcd" || name == "mongo" {
			if !slices.Equal(s.Networks, []string{"stores"}) || !c.Networks["stores"].Internal {
				t.Errorf("%s is in %v", name, s.Networks)
			}
		}
		for key, value := range s.Environment {
			if regexp.MustCompile(`(?i)password|secret|token|uri`).MatchString(key) &&
				!strings.HasPrefix(value, "/run/carillon/") {
				t.Errorf("%s: %s is %s, and no file", name, key, value)
			}
		}
		if got := []any{s.ReadOnly, slices.Equal(s.CapDrop, []string{"ALL"}),
			slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"})}; slices.Contains(got, any(false)) {
			t.Errorf("%s is not confined: %+v", name, s)
		}
		if name == "secrets" {
			if s.NetworkMode != "none" {
				t.Errorf("%s, which is root, has a network", name)
			}
		} else if len(s.CapAdd) > 0 || s.User == "" || strings.HasPrefix(s.User, "0:") {
			t.Errorf("%s runs as %q with %v", name, s.User, s.CapAdd)
		}
	}
}

// Each service sees its own secrets and its own data, and every volume is used by a service.
func TestComposeVolumes(t *testing.T) {
	c := compose(t)
	users := map[string][]string{}
	for name, s := range c.Services {
		for at, volume := range s.mounts() {
			if strings.HasPrefix(volume, "./") {
				if _, err := os.Stat(volume); err != nil {
					t.Error(err)
				}
				continue
			}
			if _, known := c.Volumes[volume]; !known {
				t.Errorf("%s mounts %s, which there is not", name, volume)
			}
			if name != "secrets" {
				users[volume] = append(users[volume], name)
			}
			if at == "/run/carillon" && volume != name+"-keys" {
				t.Errorf("%s sees the secrets %s", name, volume)
			}
		}
		if keys := name + "-keys:/run/carillon:ro"; name != "secrets" && !slices.Contains(s.Volumes, keys) {
			t.Errorf("%s does not mount %s", name, keys)
		}
	}
	for volume := range c.Volumes {
		if got := users[volume]; volume != "secrets" && len(got) != 1 {
			t.Errorf("the volume %s is used by %v, want one service", volume, got)
		}
	}
	if len(users["secrets"]) > 0 {
		t.Errorf("all secrets are seen by %v", users["secrets"])
	}
}

// What a service waits for can come true, and the first start's makers know all workers.
func TestComposeOrder(t *testing.T) {
	c := compose(t)
	for name, s := range c.Services {
		for other, on := range s.DependsOn {
			needed, known := c.Services[other]
			switch {
			case !known:
				t.Errorf("%s waits for %s, which there is not", name, other)
			case on.Condition == "service_healthy" && needed.Healthcheck == nil:
				t.Errorf("%s waits for %s to be healthy, and nothing looks", name, other)
			case on.Condition == "service_completed_successfully" && needed.Restart == "unless-stopped":
				t.Errorf("%s waits for %s to end, which is started again", name, other)
			}
		}
	}
	workers := c.workers()
	if len(workers) != 2 {
		t.Errorf("workers: %v", workers)
	}
	for _, name := range []string{"secrets", "etcd-users"} {
		script, args := c.Services[name].Command[0], c.Services[name].Command[1:]
		if !slices.Equal(args, workers) {
			t.Errorf("%s is told of the workers %v, want %v", name, args, workers)
		}
		if info, err := os.Stat(filepath.Join("compose", filepath.Base(script))); err != nil ||
			info.Mode()&0o111 != 0o111 {
			t.Errorf("%s runs %s: %v, %v", name, script, info, err)
		}
	}
}

// The daemons accept what they are told.
func TestComposeSettings(t *testing.T) {
	c := compose(t)
	dir := ""
	for _, entry := range credentials(t, "credentials-master.conf") {
		if key, value, _ := strings.Cut(entry, "="); key == "CREDENTIALS_DIRECTORY" {
			dir = value
		}
	}
	cert, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), cert, 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(name string, declare func(*pflag.FlagSet)) (*pflag.FlagSet, []string) {
		t.Helper()
		s := c.Services[name]
		_, args := s.daemon()
		fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
		declare(fs)
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
		var environ []string
		for key, value := range s.Environment {
			environ = append(environ, key+"="+strings.ReplaceAll(value, "/run/carillon", dir))
		}
		return fs, environ
	}
	m, err := config.LoadMaster(load("master", config.MasterFlags))
	if err != nil || m.HTTP.Listen != "0.0.0.0:7070" || m.HTTP.TLS.Cert == "" || m.Etcd.TLS.Cert == "" ||
		m.MongoDB.URI.Reveal() == "" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := config.LoadBootstrap(load("master", config.MasterFlags)); err != nil {
		t.Error(err)
	}
	for _, name := range c.workers() {
		w, err := config.LoadWorker(load(name, config.WorkerFlags))
		s := c.Services[name]
		if err != nil || w.Name != name || s.mounts()[w.DataDir] != name+"-data" ||
			w.MetricsListen != "127.0.0.1:7071" {
			t.Errorf("%+v, %v", w, err)
		}
		limit, err := time.ParseDuration(s.StopGracePeriod)
		if least := w.DrainTimeout + common.DefaultLostAfter/3 + 30*time.Second; err != nil || limit < least {
			t.Errorf("%s is killed after %v, a stop may take %v", name, limit, least)
		}
		if s.Init == nil || *s.Init {
			t.Errorf("%s has another process 1", name)
		}
	}
	want := []string{"etcd", "etcd-users", "master", "mongo", "secrets", "worker-1", "worker-2"}
	if known := slices.Sorted(maps.Keys(c.Services)); !slices.Equal(known, want) {
		t.Errorf("services %v, want %v", known, want)
	}
}
