package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const defaultServer = "http://127.0.0.1:7070"

// destination is the server that a call is for, and how it is reached.
type destination struct {
	server, token string
	context       string // its name, where one is used
	insecure      bool
	ca, cert, key string // files
	cookie        string // of a session
}

// destination finds the server and the token. What stands on the command line comes first,
// then the environment, then the context. A context's token goes to its own server alone.
func (c *cli) destination() (destination, error) {
	t, err := c.reach()
	if err != nil {
		return t, err
	}
	saved := t.token
	if c.context != "" && c.tokenText == "" && c.tokenFile == "" && saved != "" {
		return t, nil // who names a context does not mean the token of the environment
	}
	t.token, err = token(c.tokenText, c.tokenFile, c.env)
	switch {
	case err != nil || t.token != "":
	case saved != "":
		t.token = saved
	case t.context == "" && isLocal(t.server): // who has logged out of a context is nobody there
		t.token, err = standaloneToken(c.env)
	}
	return t, err
}

// reach finds the server. The token is that of the server's context, where there is one.
func (c *cli) reach() (destination, error) {
	t := destination{insecure: c.insecure, ca: firstOf(c.ca, c.env["CARILLON_CA_FILE"]), cert: firstOf(c.cert, c.env["CARILLON_CERT_FILE"]), key: firstOf(c.key, c.env["CARILLON_KEY_FILE"])}
	if c.context != "" && c.server != "" {
		return t, &common.Error{Code: common.CodeInvalid, Message: "there is a context and also a server", Hint: "give either --context or --server"}
	}
	saved, err := c.savedContext()
	if err != nil {
		return t, err
	}
	if c.context == "" {
		t.server = firstOf(c.server, c.env["CARILLON_SERVER"])
	}
	if saved != nil && (t.server == "" || sameServer(t.server, saved.Server)) {
		t.context, t.server, t.token, t.insecure = saved.Name, saved.Server, saved.Token, t.insecure || saved.InsecureHTTP
		t.ca, t.cert, t.key = firstOf(t.ca, saved.CA), firstOf(t.cert, saved.Cert), firstOf(t.key, saved.Key)
	}
	t.server = firstOf(t.server, defaultServer)
	return t, nil
}

// savedContext is the context that was named, or the current one; nil where there is none.
func (c *cli) savedContext() (*savedContext, error) {
	all, err := loadContexts(c.env)
	if err != nil {
		return nil, err
	}
	name := firstOf(c.context, c.env["CARILLON_CONTEXT"], all.Current)
	if name == "" {
		return nil, nil //nolint:nilnil // most people have none
	}
	return all.find(name)
}

// patienceForTurn is how long a call waits in all for a server that answers 429; it waits as long as Retry-After says.
const patienceForTurn = 30 * time.Second

// client makes the client of it; notes go to w.
func (t *destination) client(w io.Writer) (*apiclient.API, error) {
	o := apiclient.Options{Server: t.server, Token: t.token, Cookie: t.cookie, InsecureHTTP: t.insecure, UserAgent: "cronctl/" + version, Patience: patienceForTurn,
		Waiting: func(wait time.Duration) {
			fmt.Fprintf(w, "note: the server has too many requests just now; trying again in %v\n", wait)
		}}
	var err error
	if o.TLS, err = t.tls(); err != nil {
		return nil, &common.Error{Code: common.CodeInvalid, Message: "the files for TLS cannot be used", Err: err}
	}
	return apiclient.New(o)
}

// tls loads the files; without any it is nil, and the system's authorities count.
func (t *destination) tls() (*tls.Config, error) {
	if t.ca == "" && t.cert == "" && t.key == "" {
		return nil, nil //nolint:nilnil // the default of package tls
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.ca != "" {
		pem, err := os.ReadFile(t.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, common.Errorf(common.CodeInvalid, "%s holds no certificate", t.ca)
		}
	}
	if t.cert != "" || t.key != "" {
		pair, err := tls.LoadX509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// api makes the client.
func (c *cli) api() (*apiclient.API, error) {
	t, err := c.destination()
	if err != nil {
		return nil, err
	}
	return t.client(c.stderr)
}

// sameServer tells whether two addresses are one, scheme included.
func sameServer(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// isLocal tells whether a server is on this machine.
func isLocal(server string) bool {
	base, err := url.Parse(server)
	if err != nil {
		return false
	}
	return apiclient.Loopback(base.Hostname())
}

// firstOf gives the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
