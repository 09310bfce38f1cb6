package screen

import "math"

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

	// MaxName is that of every other name: of a model, its version, a feature,
	// a unit, a failure code, the owner of a lease, a reference to audio.
	// Chosen as MaxID.
	MaxName = 255

	// MaxMessage is that of Failure.Message. Chosen: a paragraph.
	MaxMessage = 4096

	// MaxDocumentName is that of a document's name. Chosen as MaxID.
	MaxDocumentName = 255

	// MaxDocument is that of a document's content. Chosen: above the learned
	// models of all categories with their former ones.
	MaxDocument = 32 << 20
)

// The greatest numbers of elements in what a store keeps.
const (
	// MaxScores is that of a session's scores, and of a score's cautions.
	// Chosen: several times the categories and cautions that there are.
	MaxScores = 64

	// MaxFeatures is that of a session's features, of a score's contributions
	// and of a failure's data. Chosen: ten times schema voice/1.
	MaxFeatures = 4096

	// MaxSegments is that of a score's segments. Chosen: a day in segments of
	// a few seconds.
	MaxSegments = 1 << 16

	// MaxItems is that of a questionnaire's items. Chosen: PHQ-9 has nine.
	MaxItems = 64
)

// MaxCount is the greatest whole number in a store, an age or a number of attempts: an
// integer column of any database can hold it.
const MaxCount = math.MaxInt32

// SessionKey identifies a session. An ID is unique within its account.
type SessionKey struct{ Account, ID string }
