package etcdkit

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	// loginLimit bounds one token request: etcd hashes the password for it.
	loginLimit = 5 * time.Second
	// Logins are at least a pause apart. It doubles with each login, and starts again after a time without
	// any.
	pauseFirst = 250 * time.Millisecond
	pauseMost  = 2 * time.Second
	// pauseRefused is the longest pause after a login that etcd refused.
	pauseRefused = 5 * time.Second
	quietFor     = 30 * time.Second
	// callTries bounds how often a call is sent whose token is refused.
	callTries = 3
)

// token is what etcd returned for the password; the value is empty if etcd's authentication is off.
type token struct{ value string }

// login holds the token of a client that authenticates with a password, and adds it to all calls.
//
// The login of the client library is not used: it requests a token for each stream it opens, and one for each
// call whose token was refused, all at once (etcd hashes the password each time); and a stream of watches
// keeps the token it was opened with, so that every later watch on it is refused once that token has expired.
// Here all calls share one token. One caller at a time requests a new one; a refused call is sent again with
// it, and a stream that etcd refused is closed as unavailable, whereupon the library opens another one and
// resumes all its watches there.
type login struct {
	username     string
	reload       func() (string, error) // reads the password again; may be nil
	authenticate func(ctx context.Context, cc *grpc.ClientConn, username, password string) (string, error)

	token atomic.Pointer[token] // nil: none, or etcd refused it
	turn  chan struct{}         // a semaphore of one, held during a login

	// Owned by the holder of turn.
	password string
	last     time.Time // end of the last login, granted or refused
	pause    time.Duration
	refusal  error // of the last login
}

func newLogin(username, password string, reload func() (string, error)) *login {
	return &login{
		username:     username,
		password:     password,
		reload:       reload,
		authenticate: authenticate,
		turn:         make(chan struct{}, 1),
	}
}

func authenticate(ctx context.Context, cc *grpc.ClientConn, username, password string) (string, error) {
	resp, err := pb.NewAuthClient(cc).Authenticate(ctx, &pb.AuthenticateRequest{Name: username, Password: password})
	if errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled) {
		return "", nil
	}
	return resp.GetToken(), err
}

// options returns the interceptors that add the token to calls. They run below those of the client library.
func (l *login) options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(l.unary), grpc.WithChainStreamInterceptor(l.stream)}
}

// current returns the token, and requests one if there is none. If etcd has refused the login, the same error
// is returned until the pause is over.
func (l *login) current(ctx context.Context, cc *grpc.ClientConn) (*token, error) {
	if t := l.token.Load(); t != nil {
		return t, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if t := l.token.Load(); t != nil {
		return t, nil // the previous holder of turn got it
	}
	if wait := time.Until(l.last.Add(l.pause)); wait > 0 {
		if l.refusal != nil {
			return nil, l.refusal
		}
		if !Sleep(ctx, wait) {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	return l.request(ctx, cc)
}

// request logs in.
func (l *login) request(ctx context.Context, cc *grpc.ClientConn) (*token, error) {
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	value, err := l.ask(ctx, cc)
	if err != nil && !Ambiguous(rpctypes.Error(err)) && l.refusal == nil && Sleep(ctx, pauseFirst) {
		value, err = l.ask(ctx, cc) // the member may have lagged behind a change of the password
	}
	if err != nil && Ambiguous(rpctypes.Error(err)) {
		return nil, err // the connection has its own backoff
	}
	l.refusal = nil
	most := pauseMost
	if err != nil {
		l.refusal = status.Errorf(codes.Unauthenticated, "etcd refuses the login of user %s: %s", l.username,
			rpctypes.ErrorDesc(err))
		most = pauseRefused
	}
	if time.Since(l.last) > quietFor {
		l.pause = 0
	}
	l.pause = min(max(2*l.pause, pauseFirst+rand.N(pauseFirst)), most-rand.N(most/4))
	l.last = time.Now()
	if err != nil {
		return nil, l.refusal
	}
	t := &token{value: value}
	l.token.Store(t)
	return t, nil
}

// ask requests a token, and once more if the password was changed meanwhile.
func (l *login) ask(ctx context.Context, cc *grpc.ClientConn) (string, error) {
	value, err := l.authenticate(ctx, cc, l.username, l.password)
	if err == nil || Ambiguous(rpctypes.Error(err)) || l.reload == nil {
		return value, err
	}
	password, fault := l.reload()
	if fault != nil || password == l.password {
		return value, err
	}
	l.password = password
	return l.authenticate(ctx, cc, l.username, l.password)
}

// drop removes a token that etcd has refused, unless it was replaced already.
func (l *login) drop(t *token) { l.token.CompareAndSwap(t, nil) }

func (t *token) on(ctx context.Context) context.Context {
	if t.value == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, t.value)
}

// unary sends a call, and again with a new token if etcd refused the previous one: a call that was refused
// for its token has changed nothing. A second new token is for members that were not in sync when the first
// was issued.
func (l *login) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	if method == pb.Auth_Authenticate_FullMethodName {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	for left := callTries - 1; ; left-- {
		t, err := l.current(ctx, cc)
		if err != nil {
			return err
		}
		err = invoke(t.on(ctx), method, req, reply, cc, opts...)
		if !TokenRefused(err) {
			return err
		}
		l.drop(t)
		if left == 0 { // not the error itself, for which the library repeats the call up to a hundred times
			return status.Errorf(codes.Unauthenticated, "etcd refused a new token of user %s: %s", l.username,
				rpctypes.ErrorDesc(err))
		}
	}
}

func (l *login) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	open grpc.Streamer,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	t, err := l.current(ctx, cc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	opened, err := open(t.on(ctx), desc, cc, method, opts...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{ClientStream: opened, login: l, token: t, cancel: cancel}, nil
}

// stream ends as unavailable when etcd refuses its token.
type stream struct {
	grpc.ClientStream
	login  *login
	token  *token
	cancel context.CancelFunc
}

func (s *stream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	refused := TokenRefused(err)
	if resp, ok := m.(*pb.WatchResponse); ok && err == nil && resp.Canceled {
		refused = tokenRefusedWatch(resp.CancelReason)
	}
	if refused {
		s.login.drop(s.token)
		err = status.Error(codes.Unavailable, "etcd refused the token of the stream")
	}
	if err != nil {
		s.cancel()
	}
	return err
}

// TokenRefused reports whether etcd refused a call because its token is no longer valid.
func TokenRefused(err error) bool {
	for _, refusal := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrUserEmpty} {
		if errors.Is(err, refusal) || err != nil && errors.Is(rpctypes.Error(err), refusal) {
			return true
		}
	}
	return false
}

// tokenRefusedWatch reports the same for a watch that etcd has cancelled: its reason arrives as text only.
func tokenRefusedWatch(reason string) bool {
	for _, refusal := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrUserEmpty} {
		if strings.HasSuffix(reason, refusal.Error()) {
			return true
		}
	}
	return false
}
