package worker

import (
	"context"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/secrets/crypt"
)

// DialEtcd creates the client of the settings. If certificates are kept, connections made after a replacement
// present the new one.
func DialEtcd(c config.Etcd, kept *certs.Set, lineage *etcdkit.Lineage) (*clientv3.Client, error) {
	secure, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if kept != nil && c.TLS.Cert != "" {
		keeper, err := kept.Open("etcd", certs.Files{Cert: c.TLS.Cert, Key: c.TLS.Key})
		if err != nil {
			return nil, err
		}
		keeper.Client(secure)
	}
	return etcdkit.Dial(etcdkit.Config{
		Endpoints: c.Endpoints,
		Username:  c.Username,
		Password:  c.Password.Reveal(),
		Reload:    c.Password.Reload,
		TLS:       secure,
		Lineage:   lineage,
	})
}

// OpenMongoDB opens the log store of the settings. After its client certificate is replaced, new connections
// present the new one.
func OpenMongoDB(ctx context.Context, m config.MongoDB, kept *certs.Set) (*mongolog.Store, error) {
	cfg := mongolog.Config{URI: m.URI.Reveal(), Database: m.Database}
	if cert, key := m.ClientCertificate(); cert != "" {
		keeper, err := kept.Open("mongodb", certs.Files{Cert: cert, Key: key})
		if err != nil {
			return nil, err
		}
		cfg.Secure = keeper.Client
	}
	return mongolog.Open(ctx, cfg)
}

// SecretBox encrypts and decrypts secrets with the keys of the settings; nil if there are none.
func SecretBox(key config.Secret) (*crypt.Box, error) {
	if key.Empty() {
		return nil, nil
	}
	return crypt.Parse(key.Reveal())
}

// Hostname returns the name of this machine for display, or "unknown".
func Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
