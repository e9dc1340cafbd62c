package hooks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

var (
	utf8BOM    = []byte("\xef\xbb\xbf")
	utf16BOMs  = [][]byte{[]byte("\xff\xfe"), []byte("\xfe\xff")}
	errTooLong = errors.New("the decoded body is too large")
)

// plain returns the body of a delivery as UTF-8: gzip is unpacked (Content-Encoding), a declared charset (Content-Type)
// is decoded, and a byte order mark is dropped. What it does not know it leaves as it is, because an alert is not
// refused for its encoding. The decoded body has at most limit bytes; a larger one is a TooLarge fault, and broken gzip
// is an Invalid one.
//
// A signature covers the body and not the headers. The declared charset of a signed body is ignored: with another
// charset the same signed bytes would be another text.
func plain(h http.Header, body []byte, limit int, signed bool) ([]byte, error) {
	if e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); (e == "gzip" || e == "x-gzip") && bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		unpacked, err := unpack(body, limit)
		switch {
		case errors.Is(err, errTooLong):
			return nil, fault.Newf(fault.TooLarge, "the decoded body has more than %d bytes", limit)
		case err != nil:
			return nil, &fault.Error{Kind: fault.Invalid,
				Message: "the body is not valid gzip, as Content-Encoding says", Err: err}
		}
		body = unpacked
	}
	contentType := h.Get("Content-Type")
	if signed {
		contentType = ""
	}
	charset := charsetOf(contentType, body)
	if charset == nil {
		return bytes.TrimPrefix(body, utf8BOM), nil
	}
	decoded, err := charset.NewDecoder().Bytes(body)
	if err != nil {
		return body, nil
	}
	if len(decoded) > limit {
		return nil, fault.Newf(fault.TooLarge, "the decoded body has more than %d bytes", limit)
	}
	return bytes.TrimPrefix(decoded, utf8BOM), nil
}

func unpack(body []byte, limit int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err == nil && len(out) > limit {
		err = errTooLong
	}
	return out, err
}

// charsetOf returns the encoding of a body that is not UTF-8: the declared one, or UTF-16 by its byte order mark. nil =
// UTF-8 or unknown.
func charsetOf(contentType string, body []byte) encoding.Encoding {
	for _, mark := range utf16BOMs {
		if bytes.HasPrefix(body, mark) {
			return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
		}
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["charset"] == "" {
		return nil
	}
	if strings.EqualFold(params["charset"], "utf-16") { // without a byte order mark
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	e, err := htmlindex.Get(params["charset"])
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	return e
}
