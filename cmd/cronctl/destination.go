package main

import (
	"cmp"
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

// destination is the server of a call, with the credentials and TLS files for it. It has a name if a saved context is
// used.
type destination struct {
	savedContext
	cookie string // session cookie
}

// destination finds the server and the token: on the command line first, then in the environment, then in the
// context. A context's token is sent to that context's server only.
func (c *cli) destination() (destination, error) {
	t, err := c.reach()
	if err != nil {
		return t, err
	}
	saved := t.Token
	if c.context != "" && c.tokenText == "" && c.tokenFile == "" && saved != "" {
		return t, nil // an explicit context takes precedence over the environment's token
	}
	t.Token, err = token(c.tokenText, c.tokenFile, c.env)
	switch {
	case err != nil || t.Token != "":
	case saved != "":
		t.Token = saved
	case t.Name == "" && isLocal(t.Server): // a context without a token has no login
		t.Token, err = standaloneToken(c.env)
	}
	return t, err
}

// reach finds the server, and the token of its context if there is one.
func (c *cli) reach() (destination, error) {
	t := destination{savedContext: savedContext{
		InsecureHTTP: c.insecure,
		CA:           cmp.Or(c.ca, c.env["CARILLON_CA_FILE"]),
		Cert:         cmp.Or(c.cert, c.env["CARILLON_CERT_FILE"]),
		Key:          cmp.Or(c.key, c.env["CARILLON_KEY_FILE"]),
	}}
	if c.context != "" && c.server != "" {
		return t, invalid("--context and --server exclude each other", "use either of them")
	}
	saved, err := c.savedContext()
	if err != nil {
		return t, err
	}
	if c.context == "" {
		t.Server = cmp.Or(c.server, c.env["CARILLON_SERVER"])
	}
	if saved != nil && (t.Server == "" || sameServer(t.Server, saved.Server)) {
		t.Name, t.Server, t.Token = saved.Name, saved.Server, saved.Token
		t.InsecureHTTP = t.InsecureHTTP || saved.InsecureHTTP
		t.CA, t.Cert, t.Key = cmp.Or(t.CA, saved.CA), cmp.Or(t.Cert, saved.Cert), cmp.Or(t.Key, saved.Key)
	}
	t.Server = cmp.Or(t.Server, defaultServer)
	return t, nil
}

// savedContext returns the named context, or the current one; nil if there is none.
func (c *cli) savedContext() (*savedContext, error) {
	all, err := loadContexts(c.env)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(c.context, c.env["CARILLON_CONTEXT"], all.Current)
	if name == "" {
		return nil, nil //nolint:nilnil // contexts are optional
	}
	return all.find(name)
}

// patienceForTurn limits the total time that a call waits for a server that answers 429. Each wait lasts as
// long as Retry-After asks for.
const patienceForTurn = 30 * time.Second

// client creates the API client, of the first server if there are several; notes are written to w.
func (t *destination) client(w io.Writer) (*apiclient.API, error) {
	first, _, _ := strings.Cut(t.Server, ",")
	return t.clientOf(first, w)
}

// clients creates an API client for each master of a list that is separated by commas.
func (t *destination) clients(w io.Writer) (all []*apiclient.API, err error) {
	for server := range strings.SplitSeq(t.Server, ",") {
		one, err := t.clientOf(strings.TrimSpace(server), w)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (t *destination) clientOf(server string, w io.Writer) (*apiclient.API, error) {
	o := apiclient.Options{
		Server:       server,
		Token:        t.Token,
		Cookie:       t.cookie,
		InsecureHTTP: t.InsecureHTTP,
		UserAgent:    "cronctl/" + version,
		Patience:     patienceForTurn,
		Waiting: func(wait time.Duration) {
			fmt.Fprintf(w, "note: the server is at its request limit; retrying in %v\n", wait)
		},
	}
	var err error
	if o.TLS, err = t.tls(); err != nil {
		return nil, cannot("cannot use the TLS files", err)
	}
	return apiclient.New(o)
}

// tls loads the TLS files. It returns nil without any: the system's authorities apply.
func (t *destination) tls() (*tls.Config, error) {
	if t.CA == "" && t.Cert == "" && t.Key == "" {
		return nil, nil //nolint:nilnil // the default of package tls
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, common.Errorf(common.CodeInvalid, "%s contains no certificate", t.CA)
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// api creates the API client.
func (c *cli) api() (*apiclient.API, error) {
	t, err := c.destination()
	if err != nil {
		return nil, err
	}
	return t.client(c.stderr)
}

// sameServer reports whether two addresses are the same, scheme included.
func sameServer(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// isLocal reports whether a server, or each of a list, is on this machine.
func isLocal(server string) bool {
	for one := range strings.SplitSeq(server, ",") {
		base, err := url.Parse(strings.TrimSpace(one))
		if err != nil || !apiclient.Loopback(base.Hostname()) {
			return false
		}
	}
	return true
}
