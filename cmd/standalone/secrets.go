package main

import (
	"context"
	"log/slog"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/cmd/internal/daemon"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/config"
)

// secretsKey returns the key of the settings, or that of the data folder.
func secretsKey(cfg config.Standalone) (config.Secret, error) {
	if !cfg.Notify.SecretsKey.Empty() {
		return cfg.Notify.SecretsKey, nil
	}
	return datadir.SecretsKey(cfg.DataDir)
}

// reseal encrypts with the first key what another key encrypted: no other process needs the old key here.
// Values that cannot be decrypted are kept; runs and channels that need them report the error.
func reseal(ctx context.Context, log *slog.Logger, etcd *clientv3.Client, key config.Secret) {
	n, err := daemon.Reseal(ctx, etcd, key)
	if err != nil {
		log.Warn("secrets_not_resealed", "error", err)
	}
	if n != (daemon.Resealed{}) {
		log.Info("secrets_resealed", "secrets", n.Secrets, "channels", n.Channels, "hooks", n.Hooks)
	}
}
