package s3

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/voicescreen/voicescreen/store/audio"
)

// discardTimeout bounds how long a failed Put removes what it has sent. Chosen: a caller
// waits for it; Sweep removes the rest.
const discardTimeout = 5 * time.Second

// Put is described at [store.Audio]. It holds at most one part of 5 MiB in memory. If the
// server fails at the end of an upload, the object may stay until Sweep.
func (b *Bucket) Put(ctx context.Context, r io.Reader) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	u := &upload{ctx: ctx, bucket: b, ref: rand.Text()}
	defer u.release() // also when r panics
	if err := audio.Copy(ctx, u, r); err != nil {
		if u.err != nil {
			return "", u.err
		}
		return "", err
	}
	if err := u.finish(); err != nil {
		return "", err
	}
	return u.ref, nil
}

// upload sends a recording.
type upload struct {
	ctx    context.Context
	bucket *Bucket
	ref    string
	part   part
	id     string               // of the multipart upload; "" before the first part
	parts  []minio.CompletePart // that were sent
	sent   int64                // bytes in parts
	made   bool                 // the server may have the object
	done   bool                 // the server has it, and it is to stay
	err    error                // of Write
}

// Write sends each part once more than that has been written. A part of the full length
// may be the last one.
func (u *upload) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if u.part.n == partLen {
			if u.err = u.sendPart(); u.err != nil {
				return n, u.err
			}
		}
		n += u.part.write(p[n:])
	}
	return n, nil
}

// sendPart sends a part of a multipart upload, which it begins if there is none.
func (u *upload) sendPart() error {
	b, name := u.bucket, u.bucket.name(u.ref)
	if u.id == "" {
		id, err := b.client.NewMultipartUpload(u.ctx, b.bucket, name, minio.PutObjectOptions{ServerSideEncryption: b.sse})
		if err != nil {
			return b.failed(u.ctx, "put: begin an upload in parts", err)
		}
		u.id = id
	}
	body := &partReader{part: &u.part}
	defer body.revoke()
	number := len(u.parts) + 1
	sent, err := b.client.PutObjectPart(u.ctx, b.bucket, name, u.id, number, body, int64(u.part.n),
		minio.PutObjectPartOptions{Sha256Hex: u.part.sum(), DisableContentSha256: true, SSE: b.sse}) // not signed again, piece by piece
	if err != nil {
		return b.failed(u.ctx, fmt.Sprintf("put: send part %d", number), err)
	}
	u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: sent.ETag})
	u.sent += int64(u.part.n)
	u.part.empty()
	return nil
}

// finish sends what is left, and makes the object.
func (u *upload) finish() error {
	b, name := u.bucket, u.bucket.name(u.ref)
	opts := minio.PutObjectOptions{ServerSideEncryption: b.sse, DisableContentSha256: true} // not signed again, piece by piece
	var info minio.UploadInfo
	var err error
	if u.id == "" {
		u.made = true // also if it fails
		body := &partReader{part: &u.part}
		defer body.revoke()
		info, err = b.client.PutObject(u.ctx, b.bucket, name, body, int64(u.part.n), "", u.part.sum(), opts)
	} else {
		if err := u.sendPart(); err != nil {
			return err
		}
		if b.read == nil {
			opts.ServerSideEncryption = nil // the upload has it
		}
		u.made = true
		info, err = b.client.CompleteMultipartUpload(u.ctx, b.bucket, name, u.id, u.parts, opts)
		if isCode(err, minio.NoSuchUpload) { // completed by an attempt whose answer was lost
			var object minio.ObjectInfo
			object, err = b.client.StatObject(u.ctx, b.bucket, name, minio.StatObjectOptions{ServerSideEncryption: b.read})
			if err == nil && object.Size != u.sent {
				err = fmt.Errorf("object has %d bytes, want %d", object.Size, u.sent)
			}
			info.VersionID = object.VersionID
		}
	}
	if err != nil {
		return b.failed(u.ctx, "put", err)
	}
	if v := info.VersionID; v != "" && v != "null" {
		return errors.Join(
			fmt.Errorf("store/audio/s3: put: bucket %q has versioning, so that recordings cannot be erased; want a bucket without", b.bucket),
			b.failed(u.ctx, "put: remove the version", b.client.RemoveObject(u.ctx, b.bucket, name, minio.RemoveObjectOptions{VersionID: v})))
	}
	u.done = true
	return nil
}

// release removes what is not complete, and frees the memory. What cannot be removed now
// is removed by Sweep.
func (u *upload) release() {
	u.part.free()
	if u.done || u.id == "" && !u.made {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), discardTimeout)
	defer cancel()
	b, name := u.bucket, u.bucket.name(u.ref)
	if u.id != "" {
		_ = b.client.AbortMultipartUpload(ctx, b.bucket, name, u.id)
	}
	if u.made {
		_ = b.client.RemoveObject(ctx, b.bucket, name, minio.RemoveObjectOptions{})
	}
}
