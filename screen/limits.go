package screen

// The greatest lengths of texts in a store, in bytes: a text column or an index
// entry of any database can hold them. All texts are UTF-8 without NUL.
const (
	// MaxID is the greatest length of a session's identifier. Chosen: six times
	// the length of 160 random bits in hexadecimal.
	MaxID = 255

	// MaxUserID is the greatest length of a user identifier. Chosen: long enough for any
	// e-mail address or URN, short enough for an index entry of every store.
	MaxUserID = 1024

	// MaxAccount is the greatest length of an account's name. Chosen as MaxID.
	MaxAccount = 255
)

// SessionKey identifies a session. An ID is unique within its account.
type SessionKey struct{ Account, ID string }
