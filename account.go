package voicescreen

// Account is the part of an Engine that one tenant sees. The sessions and users
// of other accounts do not exist for it: asking for one is ErrNotFound, as for a
// session that never existed. It is safe for concurrent use.
type Account struct{ flow }

// flow has the methods of Account, and through it of Engine: go doc shows the
// methods of an embedded type only where that type is unexported.
type flow struct {
	engine *Engine
	name   string
}

// Tenant returns the account of the name. The sessions and users of one account
// do not exist for another. Every name is an account, and needs no registration;
// "" is the account that Engine embeds.
func (e *Engine) Tenant(name string) *Account { return &Account{flow{engine: e, name: name}} }
