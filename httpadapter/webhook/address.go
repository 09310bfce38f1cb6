package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrAddress is the error for an address that is not public, and in no network
// that is allowed beside the public ones.
var ErrAddress = errors.New("the address is not a public one")

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

// ErrUnresolved is the error of Resolve for a host whose name is not resolved.
var ErrUnresolved = errors.New("the name of the host is not resolved")

// allows returns whether notices may be sent to a: a public address, or one of the
// networks in allow.
func allows(a netip.Addr, allow []netip.Prefix) bool {
	return public(a) || slices.ContainsFunc(allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control returns the Control of a net.Dialer: it refuses a connection to an
// address that is neither public nor in allow.
func control(allow ...netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") || !allows(ap.Addr(), allow) {
			return ErrAddress
		}
		return nil
	}
}

// maxURL is the maximum length of the URL of an endpoint in bytes. Chosen: a common
// limit of servers.
const maxURL = 2048

// checkURL returns an error for a URL that notices cannot be sent to, of those that
// a file may hold. Addresses in the networks of allow may be private. The error does
// not hold the URL: its path may be a secret.
func checkURL(text string, allow ...netip.Prefix) error {
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
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !allows(a, allow) {
		return fmt.Errorf("url: %w", ErrAddress)
	}
	return nil
}

// loopback are the addresses of the name localhost.
var loopback = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}

// checkNew returns an error for a URL that checkURL refuses, or that nothing can be
// delivered to whatever the name of its host resolves to.
func checkNew(text string, allow ...netip.Prefix) error {
	if err := checkURL(text, allow...); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("url: is malformed")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("url: the port is out of range, want 1 to 65535")
		}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	local := host == "localhost" || strings.HasSuffix(host, ".localhost") // RFC 6761, section 6.3
	if local && !slices.ContainsFunc(loopback, func(a netip.Addr) bool { return allows(a, allow) }) {
		return fmt.Errorf("url: %w: localhost is this machine", ErrAddress)
	}
	return nil
}

// lookup resolves names; tests replace it.
var lookup = net.DefaultResolver.LookupNetIP

// Resolve looks up the host of a URL. It returns an error that wraps ErrAddress if
// none of its addresses is public or in the networks of allow: at this moment no
// notice can be delivered. It wraps ErrUnresolved where the name is not resolved,
// which another moment or network may change. Another error says that the URL is
// invalid. The error does not hold the URL.
func Resolve(ctx context.Context, text string, allow ...netip.Prefix) error {
	if err := checkNew(text, allow...); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("url: is malformed")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil // checkURL saw it
	}
	list, err := lookup(ctx, "ip", u.Hostname())
	if err != nil || len(list) == 0 {
		return fmt.Errorf("url: %w", ErrUnresolved)
	}
	if !slices.ContainsFunc(list, func(a netip.Addr) bool { return allows(a.Unmap(), allow) }) {
		return fmt.Errorf("url: %w: the name of the host resolves to %v", ErrAddress, list[0].Unmap())
	}
	return nil
}
