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

	"carillon/internal/authstore"
	"carillon/internal/common"
	"carillon/internal/config"
)

// tokenFile holds the admin token that the first start makes.
const tokenFile = "admin.token"

// welcome makes the admin token at the first start, and says how to sign in.
func welcome(ctx context.Context, cfg config.Standalone, auth *authstore.Store, address string, stdout io.Writer) error {
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
			how = "If no admin can get in any more: stop it, and run carillon-standalone reset-admin"
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
		return fmt.Errorf("make a login link: %w", err)
	}
	fmt.Fprintf(stdout, "\n  Carillon is at %s\n  Sign in with this link, once, within 15 minutes:\n\n    %s/#login=%s\n\n  The admin token for cronctl and curl is in %s\n\n",
		url, url, code, path)
	return nil
}

// firstToken makes the token and keeps it where only its owner can read it. The
// file is opened first: a token that could not be kept would be lost for good.
func firstToken(ctx context.Context, auth *authstore.Store, actor common.Actor, path string) (string, error) {
	if old, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(old))) > 0 {
		return "", fmt.Errorf("%s is there, but no token was ever made in this data folder: move the file away", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for an admin token: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("keep the admin token: %w", err)
	}
	token, err := auth.Bootstrap(ctx, actor, 0)
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	_, err = fmt.Fprintln(file, token)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("keep the admin token: %w", err)
	}
	return token, nil
}
