package main

import (
	"encoding/pem"
	"net/http/httptest"
	"testing"
)

// A server whose authority only this person knows is trusted by its file, which a login keeps.
func TestLogin_PrivateCA_IsKept(t *testing.T) {
	s := newStage(t)
	server := httptest.NewTLSServer(s.server.Config.Handler)
	defer server.Close()
	ca := file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: server.Certificate().Raw,
	})))
	environ, _ := home(t)
	s.runWith(environ, "--server", server.URL, "--token", goodToken, "get", "jobs").want(t, exitAway, "certificate")
	s.runWith(environ, "--server", server.URL, "--token", goodToken, "--ca-file", ca, "get", "jobs").want(t, exitOK)
	s.runWith(append(environ, "CARILLON_CA_FILE="+ca), "--server", server.URL, "--token", goodToken, "get",
		"jobs").want(t, exitOK)
	s.runWith(environ, "login", server.URL, "--token", goodToken, "--ca-file", ca).want(t, exitOK)
	s.runWith(environ, "doctor").want(t, exitOK, "server_certificate")
	s.runWith(environ, "get", "jobs", "--ca-file", file(t, "none.pem", "nothing")).want(t, exitUsage,
		"contains no certificate")
	s.runWith(environ, "get", "jobs", "--cert-file", ca).want(t, exitUsage)
}
