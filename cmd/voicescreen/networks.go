package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

// allowPrivate is the name of the flag for networks that webhooks may be in.
const allowPrivate = "webhook-allow-private"

// networkFlag is the flag --webhook-allow-private.
type networkFlag struct{ list []string }

func (n *networkFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&n.list, allowPrivate, nil, "a private network that webhooks may be in, such as 10.1.0.0/16, or one address (repeatable)")
}

// networks returns the networks, or a usage error.
func (n *networkFlag) networks() (list []netip.Prefix, err error) {
	for _, text := range n.list {
		p, err := netip.ParsePrefix(text)
		if a, addrErr := netip.ParseAddr(text); err != nil && addrErr == nil && a.Zone() == "" {
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return nil, command.Usagef("--%s is %q, want a network such as 10.1.0.0/16 or an address", allowPrivate, text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// withAllowHint adds the flag that allows an address to the error that refuses it.
func withAllowHint(err error) error {
	if !errors.Is(err, webhook.ErrAddress) {
		return err
	}
	return fmt.Errorf("%w; --%s CIDR allows its network, here and in \"serve\"", err, allowPrivate)
}
