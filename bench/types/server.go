package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// serveVerb makes this program the server of the requests.
const serveVerb = "serve"

// serve answers requests until its standard input ends, and never those for /hang. It prints its address.
func serve(stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		fmt.Fprintln(w, `{"ok": true}`)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintln(stdout, listener.Addr())
	_, _ = io.Copy(io.Discard, stdin)
	_ = server.Close()
	<-ended
	return nil
}
