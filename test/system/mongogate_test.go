package system

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// mongoGate stands before the double, which knows neither TLS nor users: it takes what the
// double cannot, and notes what each user asks for that MongoDB would refuse it.
type mongoGate struct {
	t         *testing.T
	listener  net.Listener
	behind    string
	passwords map[string]string
	// may are the commands of each user's role; update with its collection.
	may map[string][]string

	conns sync.WaitGroup

	mu   sync.Mutex
	used map[string]map[string]bool // commands that were asked for, and whether they may be, by user; guarded by mu
}

// subject returns the name in a client's certificate; empty without one.
func subject(client net.Conn) string {
	conn, secure := client.(*tls.Conn)
	if !secure || conn.Handshake() != nil || len(conn.ConnectionState().PeerCertificates) == 0 {
		return ""
	}
	return conn.ConnectionState().PeerCertificates[0].Subject.String()
}

// beforeLogin is MongoDB's response before a login.
var beforeLogin = []string{"hello", "ismaster", "saslstart", "saslcontinue", "ping", "endsessions", "buildinfo"}

func newMongoGate(t *testing.T, behind, certificate, key string, clients *x509.CertPool, passwords map[string]string,
	may map[string][]string) *mongoGate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		ClientAuth:   tls.VerifyClientCertIfGiven,
		ClientCAs:    clients,
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &mongoGate{
		t:         t,
		listener:  listener,
		behind:    behind,
		passwords: passwords,
		may:       may,
		used:      map[string]map[string]bool{},
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			g.conns.Go(func() { g.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return g
}

func (g *mongoGate) address() string { return g.listener.Addr().String() }

// serve passes messages on, one after the other, as a driver sends them.
func (g *mongoGate) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", g.behind)
	if err != nil {
		return // the client's own error says so
	}
	defer server.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // the test's end is the end of all
		select {
		case <-g.t.Context().Done():
			_ = client.Close()
			_ = server.Close()
		case <-stop:
		}
	}()
	login := scram{passwords: g.passwords, shown: subject(client)}
	for {
		message, err := readMessage(client)
		if err != nil {
			return
		}
		command, body := commandOf(message)
		if answer, ours := login.answer(command, body); ours {
			if err := reply(client, message, answer); err != nil {
				return
			}
			continue
		}
		if command == "update" {
			collection, _ := body.Lookup("update").StringValueOK()
			command += " " + collection
		}
		if !g.allowed(login.user, command) {
			if err := reply(client, message, bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: int32(13)},
				{Key: "codeName", Value: "Unauthorized"},
				{Key: "errmsg", Value: "not authorized to execute command " + command}}); err != nil {
				return
			}
			continue
		}
		if _, err := server.Write(message); err != nil {
			return
		}
		if command == "" || binary.LittleEndian.Uint32(message[16:])&moreToCome != 0 && isMsg(message) {
			continue // it is not answered
		}
		answer, err := readMessage(server)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// allowed reports whether a user may send a command, and records the request.
func (g *mongoGate) allowed(user, command string) bool {
	if slices.Contains(beforeLogin, command) {
		return true
	}
	may := slices.Contains(g.may[user], command)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used[user] == nil {
		g.used[user] = map[string]bool{}
	}
	g.used[user][command] = may
	return may
}

// asked are the commands that a user asked for, and those of them that it may not.
func (g *mongoGate) asked(user string) (all, refused []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, command := range slices.Sorted(maps.Keys(g.used[user])) {
		all = append(all, command)
		if !g.used[user][command] {
			refused = append(refused, command)
		}
	}
	return all, refused
}

// The wire protocol: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
const (
	opReply    = 1
	opQuery    = 2004
	opMsg      = 2013
	moreToCome = 2
	headerSize = 16
	mostBytes  = 64 << 20
)

func readMessage(from io.Reader) ([]byte, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint32(header))
	if size < headerSize+5 || size > mostBytes {
		return nil, fmt.Errorf("a message of %d bytes", size)
	}
	message := append(header, make([]byte, size-headerSize)...)
	_, err := io.ReadFull(from, message[headerSize:])
	return message, err
}

func isMsg(message []byte) bool { return binary.LittleEndian.Uint32(message[12:]) == opMsg }

// commandOf gives the name of a message's command in small letters, and its document.
func commandOf(message []byte) (string, bson.Raw) {
	body := message[headerSize:]
	switch binary.LittleEndian.Uint32(message[12:]) {
	case opMsg:
		for body = body[4:]; len(body) > 5; {
			size := int(binary.LittleEndian.Uint32(body[1:]))
			if body[0] == 0 {
				body = body[1:]
				break
			}
			body = body[min(len(body), 1+size):]
		}
	case opQuery:
		if end := slices.Index(body[4:], 0); end >= 0 {
			body = body[4+end+1+8:]
		}
	default:
		return "", nil
	}
	first, err := bson.Raw(body).IndexErr(0)
	if err != nil {
		return "", nil
	}
	return strings.ToLower(first.Key()), bson.Raw(body)
}

// reply answers a message in the form of its question.
func reply(to io.Writer, question []byte, answer bson.D) error {
	document, err := bson.Marshal(answer)
	if err != nil {
		return err
	}
	op, before := uint32(opMsg), make([]byte, 5)
	if !isMsg(question) {
		op, before = opReply, make([]byte, 20)
		binary.LittleEndian.PutUint32(before[16:], 1)
	}
	message := make([]byte, headerSize, headerSize+len(before)+len(document))
	message = append(append(message, before...), document...)
	binary.LittleEndian.PutUint32(message, uint32(len(message)))
	copy(message[8:12], question[4:8])
	binary.LittleEndian.PutUint32(message[12:], op)
	_, err = to.Write(message)
	return err
}

// scram is the server's side of the login of one connection: by SCRAM-SHA-256 (RFC 5802,
// RFC 7677), or by the certificate that was shown.
type scram struct {
	passwords map[string]string
	shown     string // whom the certificate names
	user      string // once it is proven

	claimed, first, nonce string
}

const (
	scramSalt  = "sixteen bytes...!"
	scramTurns = 4096
)

func (s *scram) answer(command string, body bson.Raw) (bson.D, bool) {
	refused := bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: int32(18)},
		{Key: "codeName", Value: "AuthenticationFailed"}, {Key: "errmsg", Value: "Authentication failed."}}
	if command == "authenticate" {
		if s.shown == "" {
			return refused, true
		}
		s.user = s.shown
		return bson.D{{Key: "ok", Value: 1.0}, {Key: "user", Value: s.user}, {Key: "dbname", Value: "$external"}}, true
	}
	if command != "saslstart" && command != "saslcontinue" {
		return nil, false
	}
	_, payload := body.Lookup("payload").Binary()
	said, done, err := s.step(command, string(payload))
	if err != nil {
		return refused, true
	}
	return bson.D{{Key: "conversationId", Value: int32(1)}, {Key: "done", Value: done},
		{Key: "payload", Value: []byte(said)}, {Key: "ok", Value: 1.0}}, true
}

func (s *scram) step(command, said string) (answer string, done bool, err error) {
	if command == "saslstart" {
		s.first = strings.TrimPrefix(said, "n,,")
		name, nonce, found := strings.Cut(strings.TrimPrefix(s.first, "n="), ",r=")
		if _, known := s.passwords[name]; !found || !known {
			return "", false, errors.New("unknown")
		}
		s.claimed, s.nonce = name, nonce+"gate"
		return s.challenge(), false, nil
	}
	bare, proof, found := strings.Cut(said, ",p=")
	given, err := base64.StdEncoding.DecodeString(proof)
	if !found || err != nil || s.claimed == "" || !strings.HasSuffix(bare, ",r="+s.nonce) {
		return "", false, errors.New("malformed")
	}
	salted, err := pbkdf2.Key(sha256.New, s.passwords[s.claimed], []byte(scramSalt), scramTurns, sha256.Size)
	if err != nil {
		return "", false, err
	}
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	key := mac(salted, "Client Key")
	stored := sha256.Sum256(key)
	all := s.first + "," + s.challenge() + "," + bare
	for i, b := range mac(stored[:], all) {
		key[i] ^= b
	}
	if !hmac.Equal(key, given) {
		return "", false, errors.New("wrong")
	}
	s.user = s.claimed
	return "v=" + base64.StdEncoding.EncodeToString(mac(mac(salted, "Server Key"), all)), true, nil
}

func (s *scram) challenge() string {
	return fmt.Sprintf("r=%s,s=%s,i=%d", s.nonce, base64.StdEncoding.EncodeToString([]byte(scramSalt)), scramTurns)
}

// mongoPassword reads what the script has made.
func mongoPassword(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}
