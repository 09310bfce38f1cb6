// Writes known-answer vectors of package stream with the AES-256-GCM of Node.js
// (OpenSSL). It shares no code with the package. Usage: node vectors.mjs
import { createCipheriv, createHash } from "node:crypto";

const chunkSize = 65536;
const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));

function seal(plain) {
  const chunks = Math.max(1, Math.ceil(plain.length / chunkSize));
  const out = [];
  for (let i = 0; i < chunks; i++) {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(BigInt(i), 3);
    nonce[11] = i === chunks - 1 ? 1 : 0;
    const c = createCipheriv("aes-256-gcm", key, nonce);
    out.push(c.update(plain.subarray(i * chunkSize, (i + 1) * chunkSize)), c.final(), c.getAuthTag());
  }
  return Buffer.concat(out);
}

console.log("# length of the plaintext, SHA-256 of the ciphertext, its last 32 bytes or all of it");
for (const n of [0, 1, 16, 65535, 65536, 65537, 131072, 200000]) {
  const sealed = seal(Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + 3) % 251)));
  const hash = createHash("sha256").update(sealed).digest("hex");
  console.log(n, hash, sealed.subarray(-32).toString("hex"));
}
