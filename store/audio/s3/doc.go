// Package s3 keeps recordings that wait to be analysed in a bucket of an S3 server,
// for any store. It implements [store.Audio], and replicas on several machines may
// share a bucket and a prefix.
//
// A recording is one object. Its name is the prefix of the [Location], a random
// reference and the suffix ".audio": it contains nothing of the session. Put
// sends recordings of at most 5 MiB in one request, and longer ones as a multipart
// upload. It returns once the server has acknowledged the whole object; how durable that
// is depends on the server. Every request carries the SHA-256 of its content, so that
// the server refuses what a network changed.
//
// Sweep removes objects and incomplete multipart uploads by age. Both ends of the age are
// times of the server: the clocks of the replicas have no part in it. A lifecycle rule of
// the bucket that aborts incomplete uploads is a second safeguard, and not needed.
//
// The bucket must not have versioning: a removed recording would stay as an old version.
// Put refuses such a bucket.
//
// Errors wrap [store.ErrNotFound] for absent audio, [store.ErrFull] where the server says
// that a disk or a quota is full, and [store.ErrUnavailable] where a later attempt may
// succeed.
package s3
