package screen

// The greatest lengths of what a store keeps, in bytes, as a text column or an
// index entry of any database can hold it. All texts are UTF-8 without NUL.
const (
	// MaxID is that of a session's identifier. Chosen: six times what 160
	// random bits need.
	MaxID = 255

	// MaxUserID is that of a user identifier. Chosen: long enough for any
	// e-mail address or URN, short enough for an index entry of every store.
	MaxUserID = 1024

	// MaxAccount is that of an account's name. Chosen as MaxID.
	MaxAccount = 255
)

// SessionKey names a session: no two of an account have one ID.
type SessionKey struct{ Account, ID string }
