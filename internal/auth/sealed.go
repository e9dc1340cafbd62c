package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// A secret inside a stored text is written as this mark and hexadecimal digits. Only the recipient gets it in clear.
const sealedMark = "iris-sealed-"

var sealedText = regexp.MustCompile(sealedMark + "[0-9a-f]{56,512}")

// SealForRecipient returns a mark to be put into a stored text in place of a secret. RevealTo puts the secret back, for that
// destination only, so a mark that is copied into another message shows nothing.
func (k *Keys) SealForRecipient(secret, destination string) string {
	return sealedMark + hex.EncodeToString(k.Seal([]byte(secret), "for "+destination))
}

// RevealTo replaces the marks in a text that were made for a destination. Others stay.
func (k *Keys) RevealTo(text, destination string) string {
	if !strings.Contains(text, sealedMark) {
		return text
	}
	return sealedText.ReplaceAllStringFunc(text, func(mark string) string {
		sealed, err := hex.DecodeString(mark[len(sealedMark):])
		if err != nil {
			return mark
		}
		secret, err := k.Unseal(sealed, "for "+destination)
		if err != nil {
			return mark
		}
		return string(secret)
	})
}

// HashCode hashes a short code for storage with a key of the installation: a code is too short for a hash without one.
func (k *Keys) HashCode(code, purpose string) []byte {
	mac := hmac.New(sha256.New, k.codes)
	mac.Write([]byte(purpose + "\x00" + code))
	return mac.Sum(nil)
}
