// Package crypt encrypts small secrets for storage: AES-256-GCM with keys that only the daemons'
// configuration contains. A value is bound to its place (an etcd key): moved to another place, it cannot
// be decrypted. The package starts no goroutine.
package crypt

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

// version is the prefix of a sealed text.
const version = "s1"

// Errors of Open.
var (
	ErrKey     = errors.New("encrypted with an unknown key")
	ErrDamaged = errors.New("damaged, or encrypted for another place")
)

// Box encrypts with the first of its keys and decrypts with all of them, so that a key is replaced by
// putting a new one before it. The nil Box has no key.
type Box struct {
	first string
	keys  map[string]cipher.AEAD // by id, which is a part of the key's hash
}

// NewKey returns a random key in the format that Parse accepts.
func NewKey() string {
	var key [KeyBytes]byte
	_, _ = rand.Read(key[:]) // never fails (crypto/rand ends the program instead)
	return base64.StdEncoding.EncodeToString(key[:])
}

// Parse parses keys in base64, separated by white space or commas; the first one encrypts.
func Parse(text string) (*Box, error) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t'
	})
	if len(words) == 0 {
		return nil, errors.New("contains no key")
	}
	b := &Box{keys: map[string]cipher.AEAD{}}
	for i, word := range words {
		key, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(key) != KeyBytes {
			return nil, fmt.Errorf("key %d is not %d bytes in base64; generate one with: openssl rand -base64 %d", i+1,
				KeyBytes, KeyBytes)
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

// Seal encrypts a secret for a place, such as the etcd key that will hold it.
func (b *Box) Seal(place string, plain []byte) (string, error) {
	if b == nil {
		return "", ErrKey
	}
	sealed := b.keys[b.first].Seal(nil, nil, plain, []byte(place))
	return version + "." + b.first + "." + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open decrypts a text that was sealed for the place. Errors: ErrKey, ErrDamaged.
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

// Renew encrypts a text again if it is not encrypted with the first key; fresh reports whether it did.
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
