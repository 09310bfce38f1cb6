package store

// As returns the first T among st, the store that st wraps, the one that this wraps
// and so on; false if there is none. A store that wraps another one names it with the
// method
//
//	Unwrap() store.Store
//
// T is an interface for an optional ability: [Watcher], [NoticeCounter], or a method
// Backup like that of package bolt. An engine finds these by As. A store that embeds a Store and
// changes some of its methods keeps the abilities of the other one by adding Unwrap.
// Leave Unwrap out where an ability would bypass the wrapper, for example a Backup
// that does not know of the wrapper's encryption.
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
