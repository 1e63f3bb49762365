package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"carillon/internal/common"
)

// Files are the paths of a certificate with its chain, of its key, and of the CAs that must have issued the
// certificates of clients; "" for none.
type Files struct{ Cert, Key, ClientCA string }

// Config holds the settings of a Keeper.
type Config struct {
	Use   string // what the certificate is for: api, etcd
	Files Files
	Now   func() time.Time
	Log   *slog.Logger
	// Ends is called with the end of the certificate in use; may be nil.
	Ends func(use string, at time.Time)
}

// Keeper holds the certificate in use.
type Keeper struct {
	cfg Config

	mu     sync.Mutex
	held   *holding // guarded by mu; in use
	failed error    // guarded by mu; why the present files are not in use
	passed int      // guarded by mu; number of successive failed reads
	looked time.Time
}

// holding is the parsed content of the files.
type holding struct {
	contents [3][]byte
	leaf     *x509.Certificate
	pair     tls.Certificate
	server   *tls.Config
}

const (
	lookEvery = 2 * time.Second
	// handshakeEvery is how often at most a handshake reads the files.
	handshakeEvery = time.Second
	maxFile        = 1 << 20
	// warnBefore is how long before the end of a certificate the condition is raised; for a short-lived one
	// when a fifth of its life is left.
	warnBefore = 14 * 24 * time.Hour
)

// Open reads the files.
func Open(cfg Config) (*Keeper, error) {
	k := &Keeper{cfg: cfg}
	held, err := k.read()
	if err != nil {
		return nil, err
	}
	k.held, k.looked = held, cfg.Now()
	k.reportExpiry()
	return k, nil
}

// Look loads the files, if they hold another certificate that is valid.
func (k *Keeper) Look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reloadIfChanged()
}

func (k *Keeper) reloadIfChanged() {
	k.looked = k.cfg.Now()
	held, err := k.read()
	if err == nil && held != k.held {
		err = k.better(held.leaf)
	}
	switch {
	case err != nil:
		k.failed = err
		k.passed++
	case held == k.held:
		k.failed, k.passed = nil, 0
	default:
		k.held, k.failed, k.passed = held, nil, 0
		k.reportExpiry()
		k.cfg.Log.Info("certificate_loaded", "use", k.cfg.Use, "file", k.cfg.Files.Cert, "until", held.leaf.NotAfter)
	}
}

// better reports why a certificate cannot replace the one in use, or nil if it can.
func (k *Keeper) better(next *x509.Certificate) error {
	now := k.cfg.Now()
	if now.After(k.held.leaf.NotAfter) {
		return nil // any other is better
	}
	switch {
	case now.After(next.NotAfter):
		return fmt.Errorf("the new certificate ended on %s", next.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(next.NotBefore):
		return fmt.Errorf("the new certificate begins on %s", next.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

func (k *Keeper) reportExpiry() {
	if k.cfg.Ends != nil {
		k.cfg.Ends(k.cfg.Use, k.held.leaf.NotAfter)
	}
}

// read returns the content of the files; that in use if they have not changed.
func (k *Keeper) read() (*holding, error) {
	files := k.cfg.Files
	var contents [3][]byte
	for i, path := range []string{files.Cert, files.Key, files.ClientCA} {
		if path == "" {
			continue
		}
		var err error
		if contents[i], err = readFile(path); err != nil {
			return nil, err
		}
	}
	if k.held != nil && sameAll(contents, k.held.contents) {
		return k.held, nil
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", files.Cert, files.Key, err)
	}
	held := &holding{contents: contents, pair: pair, leaf: pair.Leaf}
	held.server = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if files.ClientCA != "" {
		held.server.ClientAuth, held.server.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !held.server.ClientCAs.AppendCertsFromPEM(contents[2]) {
			return nil, fmt.Errorf("%s holds no certificate", files.ClientCA)
		}
	}
	return held, nil
}

func sameAll(a, b [3][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New(path + " is too large")
	}
	return data, err
}

// use returns the content in use, after a check of the files if the last one was a while ago.
func (k *Keeper) use() *holding {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cfg.Now().Sub(k.looked) >= handshakeEvery {
		k.reloadIfChanged()
	}
	return k.held
}

// Server returns the config of a server, for HTTP/2 and HTTP/1.1.
func (k *Keeper) Server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.use().server, nil }}
}

// Client makes a client present the certificate.
func (k *Keeper) Client(secure *tls.Config) {
	secure.Certificates = nil
	secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &k.use().pair, nil
	}
}

// Shown returns which certificate is in use, its file, and its validity.
func (k *Keeper) Shown() (use, file string, from, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cfg.Use, k.cfg.Files.Cert, k.held.leaf.NotBefore, k.held.leaf.NotAfter
}

// Conditions reports that the certificate ends soon, or that the present files cannot be used. Files that are
// replaced one after the other do not match for a moment, so they must fail twice.
func (k *Keeper) Conditions() []common.Condition {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []common.Condition
	leaf, now := k.held.leaf, k.cfg.Now()
	before := min(warnBefore, leaf.NotAfter.Sub(leaf.NotBefore)/5)
	if left := leaf.NotAfter.Sub(now); left <= before {
		what := "ends"
		if left <= 0 {
			what = "ended"
		}
		all = append(all, common.Condition{Code: common.ConditionCertificateEnds,
			Text: fmt.Sprintf("the certificate for %s %s on %s: %s", k.cfg.Use, what,
				leaf.NotAfter.UTC().Format(time.RFC3339), k.cfg.Files.Cert),
			Data: common.Words{
				"use":  k.cfg.Use,
				"file": k.cfg.Files.Cert,
				"at":   leaf.NotAfter.UTC().Format(time.RFC3339),
			}})
	}
	if k.failed != nil && k.passed > 1 {
		all = append(all, common.Condition{Code: common.ConditionCertificateBad,
			Text: fmt.Sprintf("the new files of the certificate for %s cannot be used, and the previous certificate "+
				"stays in use: %v", k.cfg.Use, k.failed),
			Data: common.Words{"use": k.cfg.Use, "error": common.Excerpt(k.failed.Error())}})
	}
	return all
}
