package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRolesIncludeTheLower(t *testing.T) {
	for i, high := range Roles {
		for j, low := range Roles {
			if high.Includes(low) != (i >= j) {
				t.Errorf("%s includes %s: %v", high, low, high.Includes(low))
			}
		}
		for _, odd := range []Role{"", "root", "Admin", "public"} {
			if high.Includes(odd) || odd.Includes(high) || odd.Includes(odd) || odd.Valid() {
				t.Errorf("%q counts as a role beside %s", odd, high)
			}
		}
	}
}

func TestTokenRoundTrip(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	token := NewToken()
	record := token.Record(TokenRequest{Name: "ci", Role: Operator, TTL: time.Hour}, nil, "admin", now)
	read, ok := ParseToken(token.Reveal())
	if !ok || !record.Verify(read, now) {
		t.Fatalf("a token does not parse (%v)", ok)
	}
	if record.Verify(read, now.Add(time.Hour)) {
		t.Error("an expired token is valid")
	}
	if record.Verify(NewToken(), now) || record.Verify(Token{ID: token.ID, secret: NewSecret()}, now) ||
		record.Verify(Token{ID: token.ID}, now) {
		t.Error("another token verifies")
	}
	empty := record
	empty.Hash = ""
	if empty.Verify(read, now) || empty.Verify(Token{ID: token.ID}, now) {
		t.Error("a record without a hash matches")
	}
	odd := record
	odd.Role = "root"
	if odd.Verify(read, now) {
		t.Error("a record with an unknown role is good")
	}
	for _, text := range []string{fmt.Sprint(token), fmt.Sprintf("%+v", token), fmt.Sprintf("%#v", token),
		fmt.Sprintf("%v", []Token{token})} {
		if strings.Contains(text, token.secret) {
			t.Errorf("printing a token shows its secret: %s", text)
		}
	}
	stored, err := json.Marshal(record)
	if err != nil || strings.Contains(string(stored), token.secret) {
		t.Errorf("the record holds the secret (%v): %s", err, stored)
	}
	if record.Redacted().Hash != "" || record.Hash == "" {
		t.Error("the hash is not taken out, or taken out of the original")
	}
}

func TestParseTokenRefuses(t *testing.T) {
	good := NewToken().Reveal()
	for _, text := range []string{"", "car_", good + "\n", " " + good, strings.ToUpper(good), good[:len(good)-1],
		good + "a",
		strings.Replace(good, "car_", "cat_", 1), "Bearer " + good, strings.Repeat("a", 1<<16)} {
		if _, ok := ParseToken(text); ok {
			t.Errorf("%.40q parsed as a token", text)
		}
	}
}

func TestSecretsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		s := NewSecret()
		if !ValidSecret(s) || seen[s] {
			t.Fatalf("secret %q is malformed or came twice", s)
		}
		seen[s] = true
	}
}

func TestLimiter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := NewLimiter(5, time.Minute)
	for i := range 5 {
		if _, ok := l.Take(now, Network(fmt.Sprintf("192.0.2.%d", i))); !ok {
			t.Fatalf("attempt %d of a network is refused", i+1)
		}
	}
	wait, ok := l.Take(now.Add(10*time.Second), Network("192.0.2.77"))
	if ok || wait != 50*time.Second {
		t.Errorf("the sixth attempt of a network: %v, wait %v", ok, wait)
	}
	if _, ok := l.Take(now, Network("::ffff:192.0.2.1")); ok {
		t.Error("the same address written as IPv6 passes")
	}
	for _, other := range []string{"192.0.3.1", "2001:db8::1", "not an address"} {
		if _, ok := l.Take(now, Network(other)); !ok {
			t.Errorf("%s is limited by another network's attempts", other)
		}
	}
	if _, ok := l.Take(now.Add(time.Minute), Network("192.0.2.1")); !ok {
		t.Error("the next minute is refused")
	}
	for range 20 {
		if _, ok := l.Take(now, Network("198.51.100.1")); !ok {
			t.Fatal("attempts that were given back count")
		}
		l.GiveBack(now, Network("198.51.100.1"))
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := NewLimiter(5, time.Minute)
	passed := 0
	for i := range 2 * maxAttempted {
		if _, ok := l.Take(now, Network(fmt.Sprintf("10.%d.%d.1", i/256, i%256))); ok {
			passed++
		}
	}
	if len(l.seen) > maxAttempted+1 || passed > maxAttempted+5 {
		t.Errorf("%d networks are kept, %d attempts passed", len(l.seen), passed)
	}
	if _, ok := l.Take(now.Add(time.Minute), Network("10.0.0.1")); !ok {
		t.Error("after the flood every attempt is refused")
	}
}
