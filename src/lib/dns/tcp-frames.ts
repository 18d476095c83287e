import { headerLength } from "./codes.ts";

/** A message with its length prefix for TCP (RFC 1035 section 4.2.2). */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(2 + message.length);
  bytes.writeUInt16BE(message.length, 0);
  bytes.set(message, 2);
  return bytes;
}

/** The messages of a TCP stream. Chunks are joined only when a message is complete, so that bytes that trickle in are copied once. */
export function createFrameReader() {
  let unread: Buffer = Buffer.of();
  let at = 0;
  let chunks: Buffer[] = [];
  let missing = 2;
  return {
    add: (chunk: Buffer): void => {
      chunks.push(chunk);
      missing -= chunk.length;
    },
    /**
     * The next message; undefined until it is complete. A message shorter than a header is returned immediately, even incomplete:
     * then the caller must end the stream.
     */
    next: (): Buffer | undefined => {
      if (missing > 0) return undefined;
      if (chunks.length > 0) {
        const [first] = chunks;
        unread =
          at === unread.length && first && chunks.length === 1
            ? first
            : Buffer.concat([unread.subarray(at), ...chunks]);
        at = 0;
        chunks = [];
      }
      const length = at + 2 <= unread.length ? unread.readUInt16BE(at) : undefined;
      const end = at + 2 + (length ?? 0);
      missing = length !== undefined && length < headerLength ? 0 : end - unread.length;
      if (missing > 0) return undefined;
      const message = unread.subarray(at + 2, end);
      at = end;
      missing = 0;
      return message;
    },
  };
}
