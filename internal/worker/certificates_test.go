package worker

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/platform/certs"
	"carillon/internal/platform/certs/certstest"
	"carillon/internal/platform/config"
	"carillon/internal/platform/wallclock"
)

// guests tells of the certificates that clients of a server show; it serves none of them.
func guests(t *testing.T, cert, key []byte) (address string, names <-chan string) {
	t.Helper()
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAnyClientCert,
		NextProtos:   []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	seen, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			name := ""
			if secure := conn.(*tls.Conn); secure.HandshakeContext(t.Context()) == nil {
				name = secure.ConnectionState().PeerCertificates[0].Subject.CommonName
			}
			_ = conn.Close()
			select {
			case seen <- name:
			case <-t.Context().Done():
			}
		}
	}()
	t.Cleanup(func() {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		<-ended
	})
	return listener.Addr().String(), seen
}

// The client certificates that are shown to etcd and to MongoDB are those in the files.
func TestReplacedClientCertificatesAreShown(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, parts ...[]byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		var all []byte
		for _, part := range parts {
			all = append(all, part...)
		}
		if err := os.WriteFile(path, all, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	issue := func(name string) (cert, key []byte) {
		return certstest.Issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	}
	cert, key := issue("server")
	address, names := guests(t, cert, key)
	ca := file("ca.pem", cert)
	for use, open := range map[string]func(t *testing.T, kept *certs.Set, cert, key, both string) func(){
		"etcd": func(t *testing.T, kept *certs.Set, cert, key, _ string) func() {
			client, err := DialEtcd(config.Etcd{
				Endpoints: []string{"https://" + address},
				TLS:       config.ClientTLS{CA: ca, Cert: cert, Key: key},
			}, kept, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			return func() { _, _ = client.Get(t.Context(), "x", clientv3.WithLimit(1)) }
		},
		"mongodb": func(t *testing.T, kept *certs.Set, _, _, both string) func() {
			q := url.Values{
				"tls":                      {"true"},
				"tlsCAFile":                {ca},
				"tlsCertificateKeyFile":    {both},
				"directConnection":         {"true"},
				"serverSelectionTimeoutMS": {"100"},
			}
			store, err := OpenMongoDB(t.Context(),
				config.MongoDB{URI: config.NewSecret("mongodb://" + address + "/?" + q.Encode())}, kept)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			return func() { _ = store.Ping(t.Context()) }
		},
	} {
		t.Run(use, func(t *testing.T) {
			kept := certs.NewSet(wallclock.Now, slog.New(slog.DiscardHandler), nil)
			cert, key := issue("first")
			ask := open(t, kept, file("cert.pem", cert), file("key.pem", key), file("both.pem", cert, key))
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				for t.Context().Err() == nil {
					ask()
				}
			}()
			t.Cleanup(func() { <-asked })
			want := func(name string) {
				t.Helper()
				limit := time.After(30 * time.Second)
				for {
					select {
					case got := <-names:
						if got == name {
							return
						}
					case <-limit:
						t.Fatalf("%s is not shown", name)
					}
				}
			}
			want("first")
			cert, key = issue("second")
			file("cert.pem", cert)
			file("key.pem", key)
			file("both.pem", cert, key)
			want("second")
		})
	}
}
