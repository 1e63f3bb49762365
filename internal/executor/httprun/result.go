package httprun

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"

	"carillon/internal/platform/netguard"
)

// Exit codes, which are those of curl.
const (
	ExitBody        = 1  // body not as expected
	ExitHost        = 6  // no such host
	ExitConnect     = 7  // no connection
	ExitStatus      = 22 // status not as expected
	ExitTimeout     = 28
	ExitTLS         = 35
	ExitReceive     = 56 // the connection ended within the exchange
	ExitCertificate = 60
	ExitTooLarge    = 63
)

// Result is how a request has ended.
type Result struct {
	ExitCode int // 0: as expected
	Refused  bool
	Code     string // of the reason; empty: as expected
	Text     string
	Data     map[string]string
	Outputs  map[string]string
}

func failed(exit int, code, format string, args ...any) Result {
	return Result{ExitCode: exit, Code: code, Text: fmt.Sprintf(format, args...), Outputs: map[string]string{}}
}

func (r Result) with(key, value string) Result {
	if r.Data == nil {
		r.Data = map[string]string{}
	}
	r.Data[key] = value
	return r
}

// refused is the result of settings that cannot be used; nothing was sent.
func refused(format string, args ...any) Result {
	r := failed(0, "with_refused", format, args...)
	r.Refused = true
	return r.with("fault", r.Text)
}

// redirected is the result of a redirect that must not be followed.
func redirected(status int, where string) Result {
	r := failed(ExitStatus, "http_redirect", "the response redirects %s", where).with("status", strconv.Itoa(status))
	r.Outputs["status"] = strconv.Itoa(status)
	return r
}

// failure returns the result of an exchange without a complete response.
func (x *exchange) failure(ctx context.Context, err error) Result {
	text := err.Error()
	result := func(exit int, code string) Result {
		return failed(exit, code, "%s", text).with("error", text)
	}
	name, isName := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	slow, isSlow := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return result(ExitTimeout, "http_timeout")
	case errors.Is(err, netguard.ErrAddress):
		return result(ExitConnect, "http_address")
	case isName && !name.IsTimeout:
		return result(ExitHost, "http_host")
	case isCertificate(err):
		return result(ExitCertificate, "http_certificate")
	case isSlow && slow.Timeout():
		return result(ExitTimeout, "http_timeout")
	case x.badTLS.Load():
		return result(ExitTLS, "http_tls")
	case isOp && op.Op == "dial":
		return result(ExitConnect, "http_connect")
	}
	return result(ExitReceive, "http_receive")
}

func isCertificate(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unverified || unknown || other || invalid
}
