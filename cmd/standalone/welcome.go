package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/config"
)

// welcome creates the admin token at the first start, and prints how to sign in.
func welcome(ctx context.Context, cfg config.Standalone, auth *accessetcd.Store, address string,
	stdout io.Writer) error {
	path := filepath.Join(cfg.DataDir, datadir.TokenFile)
	done, err := auth.Bootstrapped(ctx)
	if err != nil {
		return err
	}
	scheme := "http"
	if cfg.HTTP.TLS.Cert != "" {
		scheme = "https"
	}
	url := scheme + "://" + address
	if done {
		if err := datadir.NameToken(cfg.DataDir); err != nil {
			return fmt.Errorf("store the admin token: %w", err)
		}
		how := "The admin token is in " + path
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			how = "If no admin can sign in any more: stop it, and run carillon-standalone reset-admin"
		}
		fmt.Fprintf(stdout, "\n  Carillon is at %s\n  %s\n\n", url, how)
		return nil
	}
	token, err := datadir.FirstToken(ctx, auth, cfg.DataDir)
	if err != nil {
		return err
	}
	code, err := auth.CreateLoginCode(ctx, datadir.FirstStart(), token)
	if err != nil {
		return fmt.Errorf("create login link: %w", err)
	}
	fmt.Fprintf(stdout, "\n  Carillon is at %s\n  Sign in with this link, once, within 15 minutes:\n\n    "+
		"%s/#login=%s\n\n  The admin token for cronctl and curl is in %s\n\n",
		url, url, code, path)
	return nil
}
