package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/cmd/internal/daemon"
	"carillon/internal/platform/config"
	"carillon/internal/secrets/crypt"
)

// secretsFile contains the key that encrypts stored secrets, if the settings name none.
const secretsFile = "secrets.key"

// secretsKey returns the key of the settings, or that of the data folder, which the first start creates,
// readable by its owner only.
func secretsKey(cfg config.Standalone) (config.Secret, error) {
	if !cfg.Notify.SecretsKey.Empty() {
		return cfg.Notify.SecretsKey, nil
	}
	path := filepath.Join(cfg.DataDir, secretsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(crypt.NewKey() + "\n")
		err = keep(path, data)
	}
	if err != nil {
		return config.Secret{}, fmt.Errorf("store the key of secrets: %w", err)
	}
	return config.NewSecret(string(data)), nil
}

// reseal encrypts with the first key what another key encrypted: no other process needs the old key here.
// Values that cannot be decrypted are kept; runs and channels that need them report the error.
func reseal(ctx context.Context, log *slog.Logger, etcd *clientv3.Client, key config.Secret) {
	secrets, channels, err := daemon.Reseal(ctx, etcd, key)
	if err != nil {
		log.Warn("secrets_not_resealed", "error", err)
	}
	if secrets+channels > 0 {
		log.Info("secrets_resealed", "secrets", secrets, "channels", channels)
	}
}

// keep writes a file atomically.
func keep(path string, data []byte) error {
	part := path + ".new"
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(part, path)
}
