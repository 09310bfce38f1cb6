package store

// As returns the first of st, what it wraps, what that wraps and so on that is a T,
// and false if none is. A store that wraps another one says what it wraps with a
// method
//
//	Unwrap() store.Store
//
// T is an interface for what only some stores can do: [Watcher], or a method Backup
// like that of package bolt. An engine finds these by As, so that a store that
// embeds a Store and changes some of its methods keeps them by adding Unwrap. It
// must not add Unwrap if they would go past what it changes, such as a Backup past
// an encryption of its own: then it has the method itself or not at all.
func As[T any](st Store) (T, bool) {
	for st != nil {
		if t, ok := st.(T); ok {
			return t, true
		}
		w, ok := st.(interface{ Unwrap() Store })
		if !ok {
			break
		}
		st = w.Unwrap()
	}
	var none T
	return none, false
}
