package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/platform/config"
)

// tokenFile contains the admin token that the first start creates.
const tokenFile = "admin.token"

// welcome creates the admin token at the first start, and prints how to log in.
func welcome(ctx context.Context, cfg config.Standalone, auth *accessetcd.Store, address string,
	stdout io.Writer) error {
	path := filepath.Join(cfg.DataDir, tokenFile)
	actor := common.Actor{Name: "first start", Remote: "console"}
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
		how := "The admin token is in " + path
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			how = "If no admin can log in any more: stop it, and run carillon-standalone reset-admin"
		}
		fmt.Fprintf(stdout, "\n  Carillon is at %s\n  %s\n\n", url, how)
		return nil
	}
	token, err := firstToken(ctx, auth, actor, path)
	if err != nil {
		return err
	}
	code, err := auth.CreateLoginCode(ctx, actor, token)
	if err != nil {
		return fmt.Errorf("create login link: %w", err)
	}
	fmt.Fprintf(stdout, "\n  Carillon is at %s\n  Sign in with this link, once, within 15 minutes:\n\n    "+
		"%s/#login=%s\n\n  The admin token for cronctl and curl is in %s\n\n",
		url, url, code, path)
	return nil
}

// firstToken creates the token and stores it, readable by its owner only. The file is opened first: a token
// that could not be stored would be lost.
func firstToken(ctx context.Context, auth *accessetcd.Store, actor common.Actor, path string) (string, error) {
	if old, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(old))) > 0 {
		return "", fmt.Errorf("%s exists, but no token was created in this data folder: move the file away", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("search for an admin token: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("store the admin token: %w", err)
	}
	token, err := auth.Bootstrap(ctx, actor, 0)
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	_, err = fmt.Fprintln(file, token)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("store the admin token: %w", err)
	}
	return token, nil
}
