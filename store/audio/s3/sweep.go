package s3

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// Sweep is described at [store.Audio]. The age of an object is the time from its last
// change until the listing begins, both by the server's clock; for an incomplete upload
// in parts, from its beginning. Other objects than audio stay. If the server becomes
// unavailable, Sweep returns the error; other objects that cannot be removed do not keep
// it from removing the rest.
func (b *Bucket) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(b.sweepObjects(ctx, age, referred), b.sweepUploads(ctx, age))
}

// sweepObjects removes complete recordings.
func (b *Bucket) sweepObjects(ctx context.Context, age time.Duration, referred func(ref string) bool) (faults error) {
	ctx, now := withServerTime(ctx)
	for object := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if object.Err != nil {
			return errors.Join(faults, b.failed(ctx, "sweep: list", object.Err))
		}
		ref, ok := b.refOf(object.Key)
		if !ok || referred != nil && referred(ref) {
			continue
		}
		old, err := isOld(object.LastModified, age, now)
		if err != nil {
			return err
		}
		if !old {
			continue
		}
		if err := b.Remove(ctx, ref); err != nil {
			if faults == nil {
				faults = err
			}
			if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
				return faults
			}
		}
	}
	return errors.Join(faults, b.failed(ctx, "sweep", ctx.Err()))
}

// sweepUploads aborts uploads in parts that were never completed.
func (b *Bucket) sweepUploads(ctx context.Context, age time.Duration) (faults error) {
	ctx, now := withServerTime(ctx)
	var gone []minio.ObjectMultipartInfo
	for found := range b.client.ListIncompleteUploads(ctx, b.bucket, b.prefix, true) { // to its end: it has a goroutine
		if found.Err != nil {
			faults = errors.Join(faults, b.failed(ctx, "sweep: list uploads", found.Err))
			continue
		}
		if _, ok := b.refOf(found.Key); !ok {
			continue
		}
		old, err := isOld(found.Initiated, age, now)
		if err != nil {
			faults = err
		}
		if old {
			gone = append(gone, found)
		}
	}
	for _, found := range gone {
		err := b.client.AbortMultipartUpload(ctx, b.bucket, found.Key, found.UploadID)
		if err == nil || isCode(err, minio.NoSuchUpload) {
			continue
		}
		err = b.failed(ctx, "sweep: abort an upload", err)
		if faults == nil {
			faults = err
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			break
		}
	}
	return faults
}

// refOf returns the reference of an object, and whether the object is a recording.
func (b *Bucket) refOf(name string) (string, bool) {
	ref, ok := strings.CutPrefix(name, b.prefix)
	if ok {
		ref, ok = strings.CutSuffix(ref, suffix)
	}
	return ref, ok && audio.IsRef(ref)
}

// isOld reports whether something that the server dates at t has an age or more. An age
// of 0 or less includes everything.
func isOld(t time.Time, age time.Duration, now *serverTime) (bool, error) {
	if age <= 0 {
		return true, nil
	}
	at, ok := now.get()
	if !ok {
		return false, errors.New("store/audio/s3: sweep: the server sends no time")
	}
	return !t.IsZero() && !t.After(at.Add(-age)), nil
}
