// Package seal keeps small secrets in a form that may be stored: AES-256-GCM under keys
// that only the daemons' configuration knows. What is sealed is bound to its place: a
// value that was moved to another place does not open. It starts no goroutine.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// KeyBytes is the length of a key.
const KeyBytes = 32

// version begins a sealed text.
const version = "s1"

// Errors of opening.
var (
	ErrKey     = errors.New("it was sealed with a key that is not known here")
	ErrDamaged = errors.New("it is damaged, or was sealed for another place")
)

// Box seals with the first of its keys and opens with all of them, so that a key is
// replaced by standing a new one before it. The nil Box has none.
type Box struct {
	first string
	keys  map[string]cipher.AEAD // by id, which is a part of the key's hash
}

// NewKey makes a key, in the form that Parse reads.
func NewKey() string {
	var key [KeyBytes]byte
	_, _ = rand.Read(key[:]) // never fails (crypto/rand ends the program instead)
	return base64.StdEncoding.EncodeToString(key[:])
}

// Parse reads keys in base64, with white space or commas between them; the first seals.
func Parse(text string) (*Box, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) == 0 {
		return nil, errors.New("holds no key")
	}
	b := &Box{keys: map[string]cipher.AEAD{}}
	for i, word := range words {
		key, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(key) != KeyBytes {
			return nil, fmt.Errorf("key %d is not %d bytes in base64, as of: openssl rand -base64 %d", i+1, KeyBytes, KeyBytes)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("carillon key id\x00"), key...))
		id := hex.EncodeToString(sum[:6])
		if i == 0 {
			b.first = id
		}
		b.keys[id] = aead
	}
	return b, nil
}

// Seal seals a secret for a place, such as the key of etcd that is to hold it.
func (b *Box) Seal(place string, plain []byte) (string, error) {
	if b == nil {
		return "", ErrKey
	}
	sealed := b.keys[b.first].Seal(nil, nil, plain, []byte(place))
	return version + "." + b.first + "." + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open opens what was sealed for the place.
func (b *Box) Open(place, sealed string) ([]byte, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return nil, ErrDamaged
	}
	if b == nil || b.keys[parts[1]] == nil {
		return nil, ErrKey
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, ErrDamaged
	}
	plain, err := b.keys[parts[1]].Open(nil, nil, data, []byte(place))
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}

// Renew seals anew what was not sealed with the first key; fresh tells whether it did.
func (b *Box) Renew(place, sealed string) (renewed string, fresh bool, err error) {
	plain, err := b.Open(place, sealed)
	if err != nil {
		return "", false, err
	}
	if strings.HasPrefix(sealed, version+"."+b.first+".") {
		return sealed, false, nil
	}
	renewed, err = b.Seal(place, plain)
	return renewed, err == nil, err
}
