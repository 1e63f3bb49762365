package etcdkit

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
)

// Config holds the endpoints of etcd and the credentials.
type Config struct {
	Endpoints []string
	Username  string // empty: no login, or that of the certificate
	Password  string
	// Reload reads the password again after etcd has refused it. It may be nil.
	Reload func() (string, error)
	TLS    *tls.Config // nil: plain
	// Lineage checks each response; may be nil.
	Lineage *Lineage
}

// Dial returns a client. It does not wait for etcd: a daemon starts while etcd is unavailable, and its calls
// fail until it is back.
func Dial(cfg Config) (*clientv3.Client, error) {
	// By default grpc waits up to two minutes between its tries: the return of etcd would be noticed late,
	// and runs would be ended without need.
	options := []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 5 * time.Second,
		Backoff: backoff.Config{
			BaseDelay:  100 * time.Millisecond,
			Multiplier: 1.6,
			Jitter:     0.2,
			MaxDelay:   time.Second,
		}}), grpc.WithChainStreamInterceptor(refuseFuture)}
	if cfg.Username != "" {
		options = append(options, newLogin(cfg.Username, cfg.Password, cfg.Reload).options()...)
	}
	if cfg.Lineage != nil {
		options = append(options, grpc.WithChainUnaryInterceptor(cfg.Lineage.intercept))
	}
	return clientv3.New(clientv3.Config{
		Endpoints:            cfg.Endpoints,
		TLS:                  cfg.TLS,
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: 5 * time.Second,
		PermitWithoutStream:  true,
		DialOptions:          options,
		MaxCallSendMsgSize:   4 << 20,
		Logger:               zap.NewNop(), // the callers log what matters to them
	})
}

// Wrap gives an error of etcd its code: temporary errors are unavailable, with a reason that names the
// remedy, and the rest is internal. Errors that have a code keep it.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*common.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return common.Errorf(common.CodeUnavailable, "etcd is full and refuses writes").WithReason("etcd_full").
			WithCause(err).
			WithHint("free space (etcdctl compact, then defrag on each member) or raise --quota-backend-bytes, then " +
				"run etcdctl alarm disarm")
	case loginRefused(err):
		return common.Errorf(common.CodeUnavailable, "etcd does not accept the login").WithReason("etcd_login").
			WithCause(err).
			WithHint("check etcd.username and etcd.password; if etcd's users were changed just now, try again")
	case Ambiguous(err):
		return common.Errorf(common.CodeUnavailable, "etcd does not answer").WithReason("etcd_away").WithCause(err).
			WithHint("check that the etcd cluster has a leader and that its endpoints are right")
	}
	return &common.Error{Code: common.CodeInternal, Message: "etcd refused the request", Err: err}
}

// Ambiguous reports whether a failed transaction may have been applied, or may succeed when repeated.
func Ambiguous(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	if errors.Is(err, clientv3.ErrNoAvailableEndpoints) {
		return true
	}
	var code codes.Code
	if e, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		code = e.Code()
	} else {
		code = status.Code(err)
	}
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unknown, codes.Aborted, codes.Internal:
		return true
	default:
		return refusedUnapplied(err)
	}
}

// OutcomeUnknown reports whether a failed transaction may have been applied (outcome unknown).
func OutcomeUnknown(err error) bool {
	return Ambiguous(err) && !refusedUnapplied(err) && !errors.Is(err, clientv3.ErrNoAvailableEndpoints)
}

// refusedUnapplied reports whether etcd refused a request that it may grant later, and applied nothing of it.
func refusedUnapplied(err error) bool {
	return loginRefused(err) || errors.Is(err, rpctypes.ErrNoSpace) || errors.Is(err, rpctypes.ErrTooManyRequests)
}

// loginRefused reports whether etcd rejects the token: it has expired, or the password was changed.
func loginRefused(err error) bool {
	return TokenRefused(err) || status.Code(err) == codes.Unauthenticated
}

// LeaseGone reports whether an error means that a lease has expired.
func LeaseGone(err error) bool { return errors.Is(err, rpctypes.ErrLeaseNotFound) }
