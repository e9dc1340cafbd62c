package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// sealedMark and hexadecimal digits replace a secret in a stored text. Only the recipient gets the secret.
const sealedMark = "iris-sealed-"

var sealedText = regexp.MustCompile(sealedMark + "[0-9a-f]{56,512}")

// SealForRecipient returns a mark that replaces a secret in a stored text. RevealTo restores the secret for this destination only, so
// a mark that is copied into another message reveals nothing.
func (k *Keys) SealForRecipient(secret, destination string) string {
	return sealedMark + hex.EncodeToString(k.Seal([]byte(secret), "for "+destination))
}

// RevealTo restores the secrets in a text that were sealed for the destination. Other marks stay.
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

// HashCode returns the keyed hash of a short code, for storage. The hash needs a key because all short codes can be tried.
func (k *Keys) HashCode(code, purpose string) []byte {
	mac := hmac.New(sha256.New, k.codes)
	mac.Write([]byte(purpose + "\x00" + code))
	return mac.Sum(nil)
}
