package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// errAddress is the error for an address that is not public.
var errAddress = errors.New("the address is not a public one")

// refused lists the networks of the IANA special-purpose address registries
// (RFC 6890 and its updates) that are not public: those of IPv4, and those of IPv6
// within global unicast.
var refused = prefixes(
	"0.0.0.0/8",        // this network; 0.0.0.0 is this host
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; a cloud's metadata at 100.100.100.200
	"127.0.0.0/8",      // loopback
	"169.254.0.0/16",   // link-local; the metadata of most clouds at 169.254.169.254
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // IETF protocols; a cloud's metadata at 192.0.0.192
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
	"168.63.129.16/32", // a cloud's host, within public addresses
	"2001::/23",        // IETF protocols, among them Teredo, which holds an IPv4 address
	"2001:db8::/32",    // documentation
	"2002::/16",        // 6to4, which holds an IPv4 address
	"3fff::/20",        // documentation
)

// globalUnicast holds the public addresses of IPv6. It excludes the unspecified
// address, loopback, IPv4-mapped addresses, NAT64 (64:ff9b::/96 and
// 64:ff9b:1::/48), unique local, link-local and multicast.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	p := make([]netip.Prefix, len(list))
	for i, s := range list {
		p[i] = netip.MustParsePrefix(s)
	}
	return p
}

// public returns whether a is a public address.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range refused {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// control is the Control of a net.Dialer: it refuses a connection to an address
// that is not public.
func control(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !public(ap.Addr()) {
		return errAddress
	}
	return nil
}

// maxURL is the maximum length of the URL of an endpoint in bytes. Chosen: a common
// limit of servers.
const maxURL = 2048

// checkURL returns an error for a URL that notices cannot be sent to. The error does
// not hold the URL: its path may be a secret.
func checkURL(text string) error {
	if len(text) > maxURL {
		return fmt.Errorf("url: has %d bytes, want at most %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("url: is malformed")
	case u.Scheme != "https":
		return errors.New("url: want https://")
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("url: names no host")
	case u.User != nil:
		return errors.New("url: holds a user, which is not sent")
	case strings.Contains(text, "#"):
		return errors.New("url: holds a fragment, which is not sent")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !public(a) {
		return fmt.Errorf("url: %w", errAddress)
	}
	return nil
}
