package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Secure is an etcd that speaks TLS, with clients that present a certificate of the test's own authority. Its
// authentication is off until a test enables it: then the common name of a certificate is the user.
type Secure struct {
	*Server
	Authority string // file of the authority's certificate
	dir       string
	ca        *x509.Certificate
	key       *ecdsa.PrivateKey
}

// StartSecure starts one with an empty keyspace on a free loopback port.
func StartSecure(t testing.TB) *Secure {
	t.Helper()
	s := &Secure{dir: t.TempDir(), Server: &Server{t: t}}
	s.ca = &x509.Certificate{
		Subject:               pkix.Name{CommonName: "a test's authority"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	s.Authority, _ = s.issue("ca", s.ca)
	cert, key := s.issue("etcd", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "etcd"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	cfg := settings(t.TempDir())
	free := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
	secure := &cfg.ClientTLSInfo
	secure.CertFile, secure.KeyFile, secure.TrustedCAFile, secure.ClientCertAuth = cert, key, s.Authority, true
	cfg.BcryptCost = 4            // the minimum: passwords of tests are no secrets
	cfg.EnableGRPCGateway = false // a certificate that came through it would be etcd's own
	s.start(cfg)
	return s
}

// issue signs a certificate, and returns the files of the certificate and its key. The first one is the
// authority's own.
func (s *Secure) issue(file string, template *x509.Certificate) (cert, private string) {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if s.key == nil {
		s.key = key
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, s.ca, key.Public(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	if template == s.ca {
		if s.ca, err = x509.ParseCertificate(signed); err != nil {
			s.t.Fatal(err)
		}
	}
	cert, private = filepath.Join(s.dir, file+".crt"), filepath.Join(s.dir, file+".key")
	for name, block := range map[string]*pem.Block{
		cert:    {Type: "CERTIFICATE", Bytes: signed},
		private: {Type: "PRIVATE KEY", Bytes: encoded},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return cert, private
}

// Certificate returns the files of a client's certificate and key; user is the common name.
func (s *Secure) Certificate(user string) (cert, key string) {
	s.t.Helper()
	return s.issue("client-"+user, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// TLS returns the config of a client that authenticates as user, or without a certificate for "".
func (s *Secure) TLS(user string) *tls.Config {
	s.t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(s.ca)
	cfg := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if user != "" {
		pair, err := tls.LoadX509KeyPair(s.Certificate(user))
		if err != nil {
			s.t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg
}

// As returns a client that authenticates as user, and is closed with the test.
func (s *Secure) As(user string) *clientv3.Client {
	s.t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"https://" + s.Endpoint},
		TLS:       s.TLS(user),
		Logger:    zap.NewNop(),
	})
	if err != nil {
		s.t.Fatalf("dial etcd: %v", err)
	}
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}
