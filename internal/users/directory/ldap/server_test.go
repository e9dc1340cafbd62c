package ldap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
	"github.com/stretchr/testify/require"
)

// server is a small LDAP server on its own port. It understands only the requests that the client sends.
type server struct {
	t         *testing.T
	listener  net.Listener
	passwords map[string]string // password by name
	entries   map[string]map[string][]string
	bindCode  uint16 // result of every log-in; 0 = check the password
	deaf      bool   // accepts connections and does not answer
	found     uint16 // result of searches
	hangUp    int    // close the connection after this number of pages
	secure    *tls.Config
	// parts has the values of an entry that is read by its name, by attribute.
	parts map[string]map[string][]string
	// fromTheStart: connections use TLS from the first byte.
	fromTheStart bool

	mu      sync.Mutex
	binds   []string
	filters []string
	conns   int
}

func start(t *testing.T, s *server) *server {
	t.Helper()
	var err error
	s.t = t
	s.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if s.fromTheStart {
		s.listener = tls.NewListener(s.listener, s.secure)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			all.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		s.listener.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return s
}

func (s *server) url(scheme string) string { return scheme + "://" + s.listener.Addr().String() }

func (s *server) asked() (binds, filters []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.binds...), append([]string(nil), s.filters...)
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

func (s *server) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	pages := 0
	for {
		p, err := ber.ReadPacket(conn)
		if err != nil || len(p.Children) < 2 {
			return
		}
		if s.deaf {
			continue
		}
		id, op := p.Children[0].Value.(int64), p.Children[1]
		switch op.Tag {
		case ldap.ApplicationBindRequest:
			s.answer(conn, id, ldap.ApplicationBindResponse, s.bind(op), nil)
		case ldap.ApplicationExtendedRequest:
			s.answer(conn, id, ldap.ApplicationExtendedResponse, 0, nil)
			if s.secure == nil {
				return
			}
			conn = tls.Server(conn, s.secure)
		case ldap.ApplicationSearchRequest:
			if pages++; s.hangUp > 0 && pages > s.hangUp {
				return
			}
			s.search(conn, id, p, pages)
		default:
			return
		}
	}
}

func (s *server) bind(op *ber.Packet) uint16 {
	who, password := op.Children[1].Value.(string), op.Children[2].Data.String()
	s.mu.Lock()
	s.binds = append(s.binds, who)
	s.mu.Unlock()
	switch {
	case s.bindCode != 0:
		return s.bindCode
	case s.passwords[who] == "" || s.passwords[who] != password:
		return ldap.LDAPResultInvalidCredentials
	}
	return 0
}

// search answers with the entries that match the filter, one entry for each page.
func (s *server) search(conn net.Conn, id int64, p *ber.Packet, page int) {
	filter, err := ldap.DecompileFilter(p.Children[1].Children[6])
	require.NoError(s.t, err)
	s.mu.Lock()
	s.filters = append(s.filters, filter)
	s.mu.Unlock()
	paged := len(p.Children) > 2
	var dns []string
	for dn, attributes := range s.entries {
		if matches(filter, attributes) {
			dns = append(dns, dn)
		}
	}
	slices.Sort(dns)
	of := s.entries
	if p.Children[1].Children[1].Value.(int64) == ldap.ScopeBaseObject {
		dns = []string{p.Children[1].Children[0].Value.(string)}
		of = map[string]map[string][]string{dns[0]: s.parts[p.Children[1].Children[7].Children[0].Value.(string)]}
	}
	var controls *ber.Packet
	if paged {
		cookie := ""
		if page < len(dns) {
			cookie, dns = "more", dns[page-1:page]
		} else if len(dns) > 0 {
			dns = dns[len(dns)-1:]
		}
		control := ldap.NewControlPaging(0)
		control.SetCookie([]byte(cookie))
		controls = ber.Encode(ber.ClassContext, ber.TypeConstructed, 0, nil, "controls")
		controls.AppendChild(control.Encode())
	}
	for _, dn := range dns {
		entry := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchResultEntry, nil, "entry")
		entry.AppendChild(octets(dn))
		list := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "attributes")
		for name, values := range of[dn] {
			one := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "attribute")
			one.AppendChild(octets(name))
			set := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "values")
			for _, v := range values {
				set.AppendChild(octets(v))
			}
			one.AppendChild(set)
			list.AppendChild(one)
		}
		entry.AppendChild(list)
		s.write(conn, id, entry, nil)
	}
	s.answer(conn, id, ldap.ApplicationSearchResultDone, s.found, controls)
}

// matches reports whether an entry has the filter's value. It understands (a=v) and (&(x)(a=*)).
func matches(filter string, attributes map[string][]string) bool {
	for name, values := range attributes {
		if strings.Contains(filter, "("+name+"=*)") {
			return true
		}
		for _, v := range values {
			if strings.EqualFold(filter, "("+name+"="+ldap.EscapeFilter(v)+")") {
				return true
			}
		}
	}
	return false
}

func (s *server) answer(conn net.Conn, id int64, tag ber.Tag, code uint16, controls *ber.Packet) {
	result := ber.Encode(ber.ClassApplication, ber.TypeConstructed, tag, nil, "result")
	result.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, int64(code), "code"))
	result.AppendChild(octets(""))
	result.AppendChild(octets("cn=secret,dc=example,dc=com said so"))
	s.write(conn, id, result, controls)
}

func (s *server) write(conn net.Conn, id int64, body, controls *ber.Packet) {
	p := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "message")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, "id"))
	p.AppendChild(body)
	if controls != nil {
		p.AppendChild(controls)
	}
	_, _ = conn.Write(p.Bytes())
}

func octets(v string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, v, "")
}

// certificate returns a certificate for 127.0.0.1 and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0,
			1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
