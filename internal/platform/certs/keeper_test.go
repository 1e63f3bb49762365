package certs

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/certs/certstest"
)

// made is a certificate with its key, in PEM.
type made struct{ cert, key []byte }

// folder is the directory of the files.
type folder struct {
	t   *testing.T
	dir string
	now time.Time
}

func newFolder(t *testing.T) *folder {
	return &folder{t: t, dir: t.TempDir(), now: time.Now()}
}

func (f *folder) put(name string, data []byte) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *folder) write(m made) Files {
	return Files{Cert: f.put("cert.pem", m.cert), Key: f.put("key.pem", m.key)}
}

func (f *folder) issue(name string, from, until time.Duration) made {
	cert, key := certstest.Issue(f.t, name, f.now.Add(from), f.now.Add(until))
	return made{cert, key}
}

func (f *folder) open(files Files, ends func(string, time.Time)) *Keeper {
	f.t.Helper()
	k, err := Open(Config{
		Use:   "api",
		Files: files,
		Now:   func() time.Time { return f.now },
		Log:   slog.New(slog.DiscardHandler),
		Ends:  ends,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

// serve answers handshakes with the keeper's certificate.
func serve(t *testing.T, k *Keeper) (address string) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", k.Server())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// shown returns the name in the certificate that a server presents.
func shown(t *testing.T, address string, change func(*tls.Config)) (string, error) {
	t.Helper()
	cfg := &tls.Config{InsecureSkipVerify: true}
	if change != nil {
		change(cfg)
	}
	conn, err := tls.Dial("tcp", address, cfg)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	// The server may refuse the client's certificate after the client's handshake.
	_, err1 := conn.Write([]byte("x"))
	_, err2 := io.ReadFull(conn, make([]byte, 1))
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, errors.Join(err1, err2)
}

func TestReplacedCertificateIsUsed(t *testing.T) {
	f := newFolder(t)
	first, second := f.issue("first", -time.Hour, 90*24*time.Hour), f.issue("second", -time.Hour, 91*24*time.Hour)
	var ends time.Time
	k := f.open(f.write(first), func(_ string, at time.Time) { ends = at })
	address := serve(t, k)
	want := func(name string) {
		t.Helper()
		if got, err := shown(t, address, nil); got != name || err != nil {
			t.Errorf("the server shows %q (%v), want %q", got, err, name)
		}
	}
	codes := func() (all []string) {
		for _, c := range k.Conditions() {
			all = append(all, c.Code)
		}
		return all
	}
	want("first")
	standing, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer standing.Close()
	// Only one file was replaced: nothing changes, and no condition is raised yet.
	f.put("cert.pem", second.cert)
	k.Look()
	if want("first"); len(k.Conditions()) != 0 {
		t.Errorf("files that briefly do not match raise a condition: %v", codes())
	}
	f.put("key.pem", second.key)
	k.Look()
	if want("second"); !ends.Equal(f.now.Add(91 * 24 * time.Hour).UTC().Truncate(time.Second)) {
		t.Errorf("the reported end is %v", ends)
	}
	if _, err := standing.Write([]byte("x")); err != nil {
		t.Errorf("an existing connection does not continue: %v", err)
	}
	// A handshake reads the files by itself.
	f.write(first)
	f.now = f.now.Add(2 * handshakeEvery)
	want("first")
	for name, spoil := range map[string]func(){
		"no certificate":    func() { f.put("cert.pem", []byte("nonsense")) },
		"no file":           func() { _ = os.Remove(filepath.Join(f.dir, "key.pem")) },
		"another's key":     func() { f.put("key.pem", second.key) },
		"too large":         func() { f.put("cert.pem", make([]byte, maxFile+1)) },
		"ended before":      func() { f.write(f.issue("old", -2*time.Hour, -time.Hour)) },
		"begins in an hour": func() { f.write(f.issue("new", time.Hour, 2*time.Hour)) },
	} {
		f.write(first)
		k.Look()
		if got := codes(); len(got) != 0 {
			t.Errorf("before %s: %v", name, got)
		}
		spoil()
		k.Look()
		k.Look()
		if want("first"); len(codes()) != 1 || codes()[0] != common.ConditionCertificateBad {
			t.Errorf("%s: %v", name, codes())
		}
	}
}

func TestCertificateThatEnds(t *testing.T) {
	for _, c := range []struct {
		life, left time.Duration
		told       bool
	}{
		{90 * 24 * time.Hour, 15 * 24 * time.Hour, false},
		{90 * 24 * time.Hour, 13 * 24 * time.Hour, true},
		{90 * 24 * time.Hour, -time.Hour, true},
		{24 * time.Hour, 6 * time.Hour, false},
		{24 * time.Hour, 4 * time.Hour, true},
	} {
		f := newFolder(t)
		k := f.open(f.write(f.issue("x", c.left-c.life, c.left)), nil)
		found := k.Conditions()
		if told := len(found) == 1 && found[0].Code == common.ConditionCertificateEnds; told != c.told ||
			len(found) > 1 {
			t.Errorf("%v of %v left: %v", c.left, c.life, found)
		}
	}
	// A certificate that has ended is replaced by any other.
	f := newFolder(t)
	k := f.open(f.write(f.issue("ended", -2*time.Hour, -time.Hour)), nil)
	f.write(f.issue("later", time.Hour, 2*time.Hour))
	k.Look()
	if got, err := shown(t, serve(t, k), nil); got != "later" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClientsNeedACertificateOfTheCA(t *testing.T) {
	f := newFolder(t)
	ours, theirs := f.issue("ours", -time.Hour, time.Hour), f.issue("theirs", -time.Hour, time.Hour)
	files := f.write(f.issue("server", -time.Hour, 24*time.Hour))
	files.ClientCA = f.put("ca.pem", ours.cert)
	k := f.open(files, nil)
	address := serve(t, k)
	mine := filepath.Join(f.dir, "mine")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	own := &folder{t: t, dir: mine, now: f.now}
	client := own.open(own.write(ours), nil)
	if _, err := shown(t, address, nil); err == nil {
		t.Error("a client without a certificate is accepted")
	}
	if _, err := shown(t, address, client.Client); err != nil {
		t.Errorf("a client with a certificate is refused: %v", err)
	}
	// The client's certificate is replaced, and then the CA.
	own.write(theirs)
	client.Look()
	if _, err := shown(t, address, client.Client); err == nil {
		t.Error("a client with another's certificate is accepted")
	}
	f.put("ca.pem", theirs.cert)
	k.Look()
	if _, err := shown(t, address, client.Client); err != nil {
		t.Errorf("the new CA is not used: %v", err)
	}
	f.put("ca.pem", []byte("nonsense"))
	k.Look()
	k.Look()
	if found := k.Conditions(); len(found) != 1 || found[0].Code != common.ConditionCertificateBad {
		t.Errorf("CAs that cannot be read: %v", found)
	}
	if _, err := shown(t, address, client.Client); err != nil {
		t.Errorf("the previous CA is not kept: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	f := newFolder(t)
	files := f.write(f.issue("x", -time.Hour, time.Hour))
	for _, bad := range []Files{{}, {Cert: files.Cert}, {Cert: files.Cert, Key: files.Cert}, {
		Cert:     files.Cert,
		Key:      files.Key,
		ClientCA: files.Key,
	}, {Cert: net.IPv4zero.String(), Key: files.Key}} {
		if _, err := Open(Config{Files: bad, Now: time.Now, Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
