package hooks

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Signature is how a delivery proves that its sender knows the secret of the hook; "": it need not.
type Signature string

// Signatures.
const (
	GitHub    Signature = "github"
	GitLab    Signature = "gitlab"
	Timestamp Signature = "timestamp"
)

// Signatures are all of them.
var Signatures = [...]Signature{GitHub, GitLab, Timestamp}

// Tolerance is how far the time of a signature may be from that of this process.
const Tolerance = 5 * time.Minute

// bearer is the scheme that many senders put before a token in the header Authorization. No secret has a space.
const bearer = "Bearer "

// SignatureHeader returns the header with the signature of a hook.
func (h *Hook) SignatureHeader() string {
	preset := map[Signature]string{
		GitHub:    "X-Hub-Signature-256",
		GitLab:    "X-Gitlab-Token",
		Timestamp: "X-Carillon-Signature",
	}[h.Signature]
	return cmp.Or(h.Header, preset)
}

// Delivery is a request that a hook has received.
type Delivery struct {
	Header http.Header
	Body   []byte
	At     time.Time
}

// Verify reports whether a delivery is signed with the secret. once is the signature, if it includes a time: another
// delivery that has it is the same one.
func (h *Hook) Verify(secret []byte, d *Delivery) (once string, ok bool) {
	given := d.Header.Values(h.SignatureHeader())
	if h.Signature == "" {
		return "", true
	}
	if len(secret) == 0 || len(given) != 1 {
		return "", false
	}
	switch h.Signature {
	case GitHub:
		text, found := strings.CutPrefix(given[0], "sha256=")
		return "", found && matches(text, sign(secret, d.Body))
	case GitLab:
		text := given[0]
		if strings.EqualFold(h.SignatureHeader(), "Authorization") && len(text) > len(bearer) &&
			strings.EqualFold(text[:len(bearer)], bearer) {
			text = text[len(bearer):]
		}
		want, got := sha256.Sum256(secret), sha256.Sum256([]byte(text)) // of the same length
		return "", subtle.ConstantTimeCompare(want[:], got[:]) == 1
	case Timestamp:
		return verifyTimed(secret, given[0], d)
	}
	return "", false // of a newer version
}

// verifyTimed verifies t=<Unix seconds>,v1=<hex>. The signature that it returns is computed, so that the spelling of
// the given one does not matter.
func verifyTimed(secret []byte, given string, d *Delivery) (once string, ok bool) {
	var at string
	var signatures []string
	for item := range strings.SplitSeq(given, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(item), "="); name {
		case "t":
			at = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return "", false
	}
	if age := d.At.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return "", false
	}
	sum := sign(secret, []byte(at+"."), d.Body)
	for _, one := range signatures {
		if matches(one, sum) {
			return at + "." + hex.EncodeToString(sum), true
		}
	}
	return "", false
}

func sign(secret []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, secret)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func matches(text string, sum []byte) bool {
	given, err := hex.DecodeString(text)
	return err == nil && hmac.Equal(given, sum)
}

// deliveryHeaders are the headers that identify a delivery: a repeated one has the same value.
var deliveryHeaders = [...]string{"Idempotency-Key", "X-GitHub-Delivery", "X-Gitlab-Event-UUID"}

// DeliveryID returns the header that identifies a delivery of the hook, and its value; "" if there is none. GitHub
// sends its own one alone: another would be of someone who repeats a signed delivery.
func (h *Hook) DeliveryID(d *Delivery) (header, value string) {
	for _, header := range deliveryHeaders {
		if h.Signature == GitHub && header != "X-GitHub-Delivery" {
			continue
		}
		if value := d.Header.Get(header); value != "" {
			return header, value
		}
	}
	return "", ""
}

// IsPing reports whether a delivery only tests the URL: GitHub sends one when the webhook is created.
func (d *Delivery) IsPing() bool { return d.Header.Get("X-GitHub-Event") == "ping" }
