package webhook

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1:443": true, "8.8.8.8:8443": true, "172.15.255.255:443": true, "172.32.0.0:443": true, "100.63.255.255:443": true,
		"100.128.0.0:443": true, "169.253.255.255:443": true, "192.0.1.0:443": true, "223.255.255.255:443": true, "168.63.129.15:443": true,
		"[2606:4700:4700::1111]:443": true, "[2001:200::1]:443": true, "[2a00:1450::1]:443": true,

		"127.0.0.1:443": false, "127.255.255.255:443": false, "[::1]:443": false, // loopback
		"0.0.0.0:443": false, "0.1.2.3:443": false, "[::]:443": false, // unspecified
		"10.0.0.1:443": false, "172.16.0.1:443": false, "172.31.255.255:443": false, "192.168.255.1:443": false, // private
		"[fc00::1]:443": false, "[fdff::1]:443": false, // unique local
		"169.254.0.1:443": false, "[fe80::1]:443": false, "[fe80::1%eth0]:443": false, "[2606:4700::1%eth0]:443": false, // link-local, zones
		"100.64.0.1:443": false, "100.127.255.255:443": false, // carrier-grade NAT
		"224.0.0.1:443": false, "239.255.255.255:443": false, "[ff02::1]:443": false, "[ff0e::1]:443": false, // multicast
		"255.255.255.255:443": false, "240.0.0.1:443": false, // broadcast, reserved
		"192.0.0.1:443": false, "192.0.2.1:443": false, "198.51.100.1:443": false, "203.0.113.1:443": false, "198.18.0.1:443": false, "198.19.255.255:443": false,
		"192.88.99.1:443": false, "[2001:db8::1]:443": false, "[3fff::1]:443": false, "[100::1]:443": false, "[2001:2::1]:443": false,
		"[::ffff:1.1.1.1]:443": false, "[::ffff:127.0.0.1]:443": false, "[::1.1.1.1]:443": false, // IPv4 within IPv6
		"[64:ff9b::1.1.1.1]:443": false, "[64:ff9b::7f00:1]:443": false, "[64:ff9b:1::1]:443": false, // NAT64
		"[2002:7f00:1::]:443": false, "[2001::7f00:1]:443": false, // 6to4, Teredo
		"169.254.169.254:443": false, "[fd00:ec2::254]:443": false, "100.100.100.200:443": false, "192.0.0.192:443": false, "168.63.129.16:443": false, // metadata

		"localhost:443": false, "": false, "1.1.1.1": false, // no address: nothing is dialled by name
	} {
		err := control()("tcp4", address, nil)
		if (err == nil) != want {
			t.Errorf("%q: got error %v, want public %v", address, err, want)
		}
		if err != nil && !errors.Is(err, ErrAddress) {
			t.Errorf("%q: got error %v, want %v", address, err, ErrAddress)
		}
	}
	for _, network := range []string{"udp", "unix", "ip4:1"} {
		if err := control()(network, "1.1.1.1:443", nil); err == nil {
			t.Errorf("network %s was not refused", network)
		}
	}
}

// FuzzPublic compares the table with package net's own
// notions.
func FuzzPublic(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1", "2001:db8::1", "1.1.1.1"} {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok || !public(a) {
			return
		}
		ip := net.IP(b)
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || !ip.IsGlobalUnicast() || a.Is4In6() {
			t.Errorf("%v is public", a)
		}
	})
}

func TestURLsThatCannotBeToldAreRefused(t *testing.T) {
	for url, says := range map[string]string{
		"":                                     "https",
		"http://example.com/canary":            "https",
		"ftp://example.com/canary":             "https",
		"example.com/canary":                   "https",
		"https:///canary":                      "host",
		"https:canary":                         "host",
		"https://u:canary@x.com/":              "user",
		"https://x.com/canary#a":               "fragment",
		"https://x.com/canary\n":               "malformed",
		"https://x.com:canary/":                "malformed",
		"https://127.0.0.1/canary":             "public",
		"https://[::1]:8443/canary":            "public",
		"https://10.1.2.3/canary":              "public",
		"https://169.254.169.254/c":            "public",
		"https://[fe80::1%25a]/c":              "public",
		"https://" + strings.Repeat("x", 3000): "bytes",
	} {
		err := checkURL(url)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.40q: got error %v, want one that says %q and not the address", url, err, says)
		}
	}
	for _, url := range []string{"https://example.com", "https://example.com:8443/a?b=c", "https://1.1.1.1/", "https://[2606:4700:4700::1111]/x", "https://localhost/refused-when-dialled"} {
		if err := checkURL(url); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}
