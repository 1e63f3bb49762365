package daemon

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/runlog/mongolog"
)

// Certificates holds the certificates that a daemon presents. They are replaced without a restart. A nil value
// holds none.
type Certificates struct {
	log  *slog.Logger
	ends func(use string, at time.Time)
	held []*certs.Keeper
}

// NewCertificates creates an empty set; ends is called with the expiry time of each certificate.
func NewCertificates(log *slog.Logger, ends func(use string, at time.Time)) *Certificates {
	return &Certificates{log: log, ends: ends}
}

// keep reads a certificate and adds it. It is called before the parts start.
func (c *Certificates) keep(use string, files certs.Files) (*certs.Keeper, error) {
	keeper, err := certs.Open(certs.Config{Use: use, Files: files, Now: WallClock, Log: c.log, Ends: c.ends})
	if err != nil {
		return nil, err
	}
	c.held = append(c.held, keeper)
	return keeper, nil
}

func (c *Certificates) all() []*certs.Keeper {
	if c == nil {
		return nil
	}
	return c.held
}

// OpenMongoDB opens the log store of the settings. After its client certificate is replaced, new connections
// present the new one.
func OpenMongoDB(ctx context.Context, m config.MongoDB, kept *Certificates) (*mongolog.Store, error) {
	cfg := mongolog.Config{URI: m.URI.Reveal(), Database: m.Database}
	if cert, key := m.ClientCertificate(); cert != "" {
		keeper, err := kept.keep("mongodb", certs.Files{Cert: cert, Key: key})
		if err != nil {
			return nil, err
		}
		cfg.Secure = keeper.Client
	}
	return mongolog.Open(ctx, cfg)
}

func (c *Certificates) parts() (all []lifecycle.Part) {
	if c == nil {
		return nil
	}
	for _, one := range c.held {
		all = append(all, lifecycle.Part{Name: "certificate", Serve: one.Run})
	}
	return all
}

// Conditions returns conditions for certificates that expire soon and for files that cannot be used.
func (c *Certificates) Conditions() (all []common.Condition) {
	if c == nil {
		return nil
	}
	for _, one := range c.held {
		all = append(all, one.Conditions()...)
	}
	return all
}
