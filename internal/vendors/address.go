package vendors

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// errPrivateAddress is the error for a user-given URL that leads to an address that is not on the public internet.
var errPrivateAddress = errors.New("address is not public")

// notPublic lists addresses that are not on the public internet, besides those that netip knows.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // shared by carriers
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("64:ff9b:1::/48"),  // local-use translation
	netip.MustParsePrefix("100::/64"),        // discard
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4, carries any IPv4 address
	netip.MustParsePrefix("fec0::/10"),       // old site-local
	netip.MustParsePrefix("5f00::/16"),       // segment routing
}

// translated addresses hold an IPv4 address in their last four bytes.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Public reports whether a is an address on the public internet.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if translated.Contains(a) {
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	// ::a.b.c.d, the old form of IPv4 in IPv6.
	if a.Is6() {
		b := a.As16()
		if [12]byte(b[:12]) == [12]byte{} {
			return false
		}
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// publicOnly is a dialer's Control. It gets the address that a name resolved to, just before the connection is made, so
// that a name that resolves differently the second time is refused too.
func publicOnly(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errPrivateAddress, address)
	}
	a, err := netip.ParseAddr(host)
	if err != nil || !Public(a) {
		return errPrivateAddress
	}
	return nil
}
