// Package oidctest is an OpenID Connect issuer for tests: it accepts every login, and can be set to
// return wrong values.
package oidctest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Registration of our client at the issuer.
const (
	ClientID     = "carillon"
	ClientSecret = "what only the two of them know"
)

// Issuer is a server on loopback.
type Issuer struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu            sync.Mutex
	codes         map[string]grant // guarded by mu
	change        WrongValues      // guarded by mu
	tokenRequests int              // guarded by mu; number of token requests
}

// WrongValues is a set of wrong values to return.
type WrongValues struct {
	Claims    map[string]any // merged over the ID token's
	UserInfo  map[string]any // claims of the user info endpoint, besides the subject
	Discovery map[string]any // merged over the discovery document
	Signature string         // none, HS256 or other (another issuer's key)
	NoToken   bool
	Reuse     bool // a code can be used any number of times
}

type grant struct {
	nonce, challenge, redirect string
}

// Start runs an issuer until the test ends.
func Start(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{key: key, codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userInfo)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// Return sets the wrong values for all later requests.
func (i *Issuer) Return(l WrongValues) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.change = l
}

// TokenRequests returns the number of token requests.
func (i *Issuer) TokenRequests() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tokenRequests
}

func (i *Issuer) wrongValues() WrongValues {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.change
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	says := map[string]any{
		"issuer":                                i.URL,
		"authorization_endpoint":                i.URL + "/authorize",
		"token_endpoint":                        i.URL + "/token",
		"jwks_uri":                              i.URL + "/keys",
		"userinfo_endpoint":                     i.URL + "/userinfo",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
	}
	Answer(w, over(says, i.wrongValues().Discovery))
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	Answer(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1",
		"n": text(i.key.N.Bytes()), "e": text(big.NewInt(int64(i.key.E)).Bytes())}}})
}

// authorize is the endpoint for browsers: it accepts every login at once.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" ||
		q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "unexpected authorization request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = grant{nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri")}
	i.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(),
		http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	lie, code := i.wrongValues(), r.PostFormValue("code")
	i.mu.Lock()
	i.tokenRequests++
	g, known := i.codes[code]
	if !lie.Reuse {
		delete(i.codes, code)
	}
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id, err := url.QueryUnescape(id); err != nil || id != ClientID {
		refuse(w, "invalid_client")
		return
	}
	if secret, err := url.QueryUnescape(secret); err != nil || secret != ClientSecret {
		refuse(w, "invalid_client")
		return
	}
	if !known || text(sum[:]) != g.challenge || r.PostFormValue("redirect_uri") != g.redirect {
		refuse(w, "invalid_grant")
		return
	}
	now := time.Now()
	claims := over(map[string]any{
		"iss":                i.URL,
		"sub":                "248289761001",
		"aud":                ClientID,
		"iat":                now.Unix(),
		"exp":                now.Add(time.Minute).Unix(),
		"nonce":              g.nonce,
		"preferred_username": "ann",
		"groups":             []string{"ops"},
	}, lie.Claims)
	says := map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60}
	if !lie.NoToken {
		says["id_token"] = i.sign(claims, lie.Signature)
	}
	Answer(w, says)
}

func (i *Issuer) userInfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer access" {
		http.Error(w, "wrong access token", http.StatusUnauthorized)
		return
	}
	Answer(w, over(map[string]any{"sub": "248289761001"}, i.wrongValues().UserInfo))
}

func (i *Issuer) sign(claims map[string]any, how string) string {
	algorithm := "RS256"
	if how == "none" || how == "HS256" {
		algorithm = how
	}
	signed := encoded(map[string]any{"alg": algorithm, "kid": "1", "typ": "JWT"}) + "." + encoded(claims)
	sum := sha256.Sum256([]byte(signed))
	key := i.key
	switch how {
	case "none":
		return signed + "."
	case "HS256": // with a key that is no secret of the issuer: the public key, or the client's own secret
		mac := hmac.New(sha256.New, []byte(ClientSecret))
		mac.Write([]byte(signed))
		return signed + "." + text(mac.Sum(nil))
	case "other":
		var err error
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			panic(err)
		}
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return signed + "." + text(signature)
}

// over merges one map over another; nil deletes a key.
func over(base, changes map[string]any) map[string]any {
	for name, value := range changes {
		if base[name] = value; value == nil {
			delete(base, name)
		}
	}
	return base
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text(data)
}

// Answer writes JSON.
func Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"error":%q}`, code)
}
