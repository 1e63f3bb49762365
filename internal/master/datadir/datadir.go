// Package datadir holds what a standalone stores in its data folder: the keyspace of its etcd, the history, the key of
// secrets, and the admin token. The caller locks the folder.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/platform/config"
	"carillon/internal/platform/embedded"
	"carillon/internal/runlog/sqlitelog"
	"carillon/internal/secrets/crypt"
)

const (
	// Etcd is the folder of the keyspace.
	Etcd = "etcd"
	// RunLog is the file of the history.
	RunLog = "runs.sqlite"
	// TokenFile contains the admin token that the first start creates.
	TokenFile = "admin.token"
	// secretsFile contains the key that encrypts stored secrets, if the settings name none.
	secretsFile = "secrets.key"
	// incomplete ends the name of a file until it is complete.
	incomplete = ".new"
)

// FirstStart returns the actor of changes that the first start makes.
func FirstStart() common.Actor { return common.Actor{Name: "first start", Remote: "console"} }

// Stores are the open stores of a data folder.
type Stores struct {
	Etcd  *embedded.Etcd
	Store *sqlitelog.Store
}

// Open opens or creates the stores.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Stores, error) {
	etcd, err := embedded.Start(ctx, filepath.Join(dir, Etcd), log)
	if err != nil {
		return nil, err
	}
	store, err := sqlitelog.OpenLogged(ctx, filepath.Join(dir, RunLog), log)
	if err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	return &Stores{Etcd: etcd, Store: store}, nil
}

// Watch waits for the end of ctx. It returns an error if etcd fails before.
func (s *Stores) Watch(ctx context.Context) error {
	return s.Etcd.Wait(ctx)
}

// Close closes the stores.
func (s *Stores) Close() error { return errors.Join(s.Store.Close(), s.Etcd.Close()) }

// SecretsKey returns the key of secrets, which the first start creates, readable by its owner only.
func SecretsKey(dir string) (config.Secret, error) {
	path := filepath.Join(dir, secretsFile)
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

// keep writes a file atomically.
func keep(path string, data []byte) error {
	part := path + incomplete
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

// NameToken gives the file of the admin token its name, if the first start was killed just before that.
func NameToken(dir string) error {
	path := filepath.Join(dir, TokenFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	token, err := os.ReadFile(path + incomplete)
	if err != nil || len(strings.TrimSpace(string(token))) == 0 {
		return nil // there is none, or it was not written: reset-admin makes another one
	}
	return os.Rename(path+incomplete, path)
}

// FirstToken creates the admin token and stores it, readable by its owner only. The file is opened first: a token
// that could not be stored would be lost. It has its name when it contains the token, which is valid by then.
func FirstToken(ctx context.Context, auth *accessetcd.Store, dir string) (string, error) {
	path := filepath.Join(dir, TokenFile)
	if old, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(old))) > 0 {
		return "", fmt.Errorf("%s exists, but no token was created in this data folder: move the file away", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("search for an admin token: %w", err)
	}
	part := path + incomplete
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("store the admin token: %w", err)
	}
	token, err := auth.Bootstrap(ctx, FirstStart(), 0)
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	_, err = fmt.Fprintln(file, token)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("store the admin token: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return "", fmt.Errorf("store the admin token: %w", err)
	}
	return token, nil
}
