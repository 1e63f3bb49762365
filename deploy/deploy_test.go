// Package deploy holds what an installation copies: units, example settings and
// users. It has no code; its tests load the examples as the daemons would and
// hold the units to what the daemons promise.
package deploy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"carillon/internal/common"
	"carillon/internal/executor/runas"
	"carillon/internal/platform/config"
)

// credentials are what a drop-in would hand to a daemon, with the files that it names and no others.
func credentials(t *testing.T, dropIn string) (environ []string) {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"localhost"},
		NotAfter:     time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	all := map[string][]byte{
		"secretsKey":  []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"),
		"mongodb.uri": []byte("mongodb://carillon:secret@mongo-1.example.com/?tls=true\n"),
		"etcd.crt":    certificate, "etcd.key": private, "tls.crt": certificate, "tls.key": private,
	}
	for _, line := range directives(t, dropIn)["LoadCredential"] {
		name, _, _ := strings.Cut(line, ":")
		data, made := all[name]
		if !made {
			t.Fatalf("%s wants %s, which section 3 of docs/deploy.md does not make", dropIn, name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The authority is a file of the machine; here it stands in the same folder.
	authority := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	environ = []string{"CREDENTIALS_DIRECTORY=" + dir, "STATE_DIRECTORY=/var/lib/carillon-worker",
		"CARILLON_ETCD_TLS_CA=" + authority}
	for _, line := range directives(t, dropIn)["Environment"] {
		environ = append(environ, strings.ReplaceAll(line, "%d", dir))
	}
	return environ
}

func flags(t *testing.T, declare func(*pflag.FlagSet), file string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet(file, pflag.ContinueOnError)
	declare(fs)
	if err := fs.Parse([]string{"--config", file}); err != nil {
		t.Fatal(err)
	}
	return fs
}

func TestExampleOfTheMaster(t *testing.T) {
	m, err := config.LoadMaster(flags(t, config.MasterFlags, "master.yaml"), credentials(t, "credentials-master.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Etcd.TLS.Cert == "" || m.Etcd.TLS.CA == "" || m.MongoDB.URI.Empty() || m.HTTP.TLS.Cert == "" ||
		len(m.Etcd.Endpoints) != 3 {
		t.Errorf("%+v", m)
	}
	// Without the credentials it would stand open, and so it does not start.
	_, err = config.LoadMaster(flags(t, config.MasterFlags, "master.yaml"), nil)
	if common.CodeOf(err) != common.CodeInvalid || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("error %v", err)
	}
}

func TestExampleOfTheWorker(t *testing.T) {
	w, err := config.LoadWorker(flags(t, config.WorkerFlags, "worker.yaml"), credentials(t, "credentials-worker.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if w.DataDir != "/var/lib/carillon-worker" || w.Slots != 200 || w.Etcd.TLS.Cert == "" {
		t.Errorf("%+v", w)
	}
}

func TestExampleOfTheStandalone(t *testing.T) {
	d, err := config.LoadStandalone(flags(t, config.StandaloneFlags, "standalone.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.DataDir != "/var/lib/carillon" || d.Slots != 100 {
		t.Errorf("%+v", d)
	}
}

// directives reads a unit: what each name is set to, in order.
func directives(t *testing.T, name string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.SplitSeq(string(data), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			found[key] = append(found[key], value)
		}
	}
	return found
}

func TestUnits(t *testing.T) {
	for unit, want := range map[string]map[string]string{
		"carillon-master.service": {"DynamicUser": "yes", "ProtectSystem": "strict", "MemoryDenyWriteExecute": "yes",
			"ExecStart": "/usr/bin/carillon-master --config /etc/carillon/master.yaml"},
		"carillon-worker.service": {
			"User":         "carillon-worker",
			"Delegate":     "memory pids",
			"NotifyAccess": "main",
			"OOMPolicy":    "continue",
			"ExecStart":    "/usr/bin/carillon-worker --config /etc/carillon/worker.yaml",
		},
		"carillon-standalone.service": {
			"User":         "carillon",
			"Delegate":     "yes",
			"NotifyAccess": "main",
			"OOMPolicy":    "continue",
			"ExecStart":    "/usr/bin/carillon-standalone --config /etc/carillon/standalone.yaml",
		},
	} {
		got := directives(t, unit)
		maps.Copy(want, map[string]string{
			"Type":                     "notify",
			"KillMode":                 "mixed",
			"WatchdogSec":              "30s",
			"Restart":                  "on-failure",
			"NoNewPrivileges":          "yes",
			"CapabilityBoundingSet":    "",
			"RestartPreventExitStatus": strconv.Itoa(config.ExitCode),
		})
		for key, value := range want {
			if !slices.Equal(got[key], []string{value}) {
				t.Errorf("%s: %s is %q, want %q", unit, key, got[key], value)
			}
		}
	}
}

// With run-as.conf a worker has what that needs, and no more: not what makes root of it.
func TestRunAsDropIn(t *testing.T) {
	got := directives(t, "run-as.conf")
	want := []string{"CAP_SETUID CAP_SETGID CAP_KILL"}
	if len(got) != 3 || !slices.Equal(got["CapabilityBoundingSet"], want) ||
		!slices.Equal(got["AmbientCapabilities"], want) || !slices.Equal(got["ProtectProc"], []string{"default"}) {
		t.Errorf("%v", got)
	}
}

// The file that goes with it says what the worker understands, also where its examples are
// taken, and its user is one that is made.
func TestRunAsExample(t *testing.T) {
	data, err := os.ReadFile("run-as.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := runas.Parse(data)
	if err != nil || rules.Default != "carillon-jobs" || len(rules.Groups) != 0 {
		t.Errorf("%+v, %v", rules, err)
	}
	before, examples, found := strings.Cut(string(data), "groups: {}\n")
	rules, err = runas.Parse([]byte(before + "groups:\n" + strings.ReplaceAll(examples, "#", "")))
	if err != nil || !found || len(rules.Groups) != 3 || !rules.Groups["playground"].Disabled {
		t.Errorf("the examples: %+v, %v", rules, err)
	}
	users, err := os.ReadFile("carillon.sysusers")
	if err != nil || !strings.Contains(string(users), "\nu carillon-jobs ") {
		t.Errorf("carillon-jobs is not made: %s, %v", users, err)
	}
}

// How much of the machine a unit leaves open, by systemd's own reckoning: 0 is nothing, 10 all.
func TestSystemdExposure(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	for unit, of := range map[string]struct {
		files []string
		tenth int
	}{
		"carillon-master.service": {[]string{"carillon-master.service"}, 15},
		"carillon-worker.service": {[]string{"carillon-worker.service"}, 25},
		"carillon-run-as.service": {[]string{"carillon-worker.service", "run-as.conf"}, 33},
	} {
		var whole []byte
		for _, name := range of.files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			whole = append(append(whole, data...), '\n')
		}
		file := filepath.Join(dir, unit)
		if err := os.WriteFile(file, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager",
			"--threshold="+strconv.Itoa(of.tenth), file).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		verdict := lines[len(lines)-1]
		switch {
		case strings.Contains(verdict, "unrecognized option") || strings.Contains(string(out), "unrecognized option"):
			t.Skip("this systemd-analyze cannot judge a file: ", verdict)
		case err != nil:
			t.Errorf("%s is more open than %d.%d: %v: %s", unit, of.tenth/10, of.tenth%10, err, verdict)
		}
		t.Log(verdict)
	}
}

// systemd's patience is longer than a drain, the longest killGrace and the last
// writes together.
func TestWorkerUnit_StopTimeout_CoversTheDrain(t *testing.T) {
	limit, err := time.ParseDuration(directives(t, "carillon-worker.service")["TimeoutStopSec"][0])
	if err != nil {
		t.Fatal(err)
	}
	if least := config.DefaultDrainTimeout + common.DefaultLostAfter/3 + 30*time.Second; limit < least {
		t.Errorf("TimeoutStopSec is %v, a stop may take %v", limit, least)
	}
}

// systemd itself reads the units, where it is installed.
func TestUnits_PassSystemdVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	root := t.TempDir()
	units := filepath.Join(root, "etc/systemd/system")
	for _, dir := range []string{units, filepath.Join(root, "usr/bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"master", "worker"} {
		unit, err := os.ReadFile("carillon-" + name + ".service")
		if err != nil {
			t.Fatal(err)
		}
		// The binary need not be installed here; the rest of the line stays.
		binary := filepath.Join(root, "usr/bin/carillon-"+name)
		if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(unit), "/usr/bin/carillon-"+name, binary)
		file := filepath.Join(units, "carillon-"+name+".service")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no",
			file).CombinedOutput()
		if err != nil || strings.Contains(string(out), "carillon-"+name+".service:") {
			t.Errorf("carillon-%s.service: %v\n%s", name, err, out)
		}
	}
}
