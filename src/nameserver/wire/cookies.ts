import { timingSafeEqual } from "node:crypto";
import { sipHash24 } from "./siphash.ts";

/**
 * Seconds that a server cookie is valid, may be ahead of this clock, and may have before a new one is sent (RFC 9018
 * section 4.3).
 */
const validFor = 3_600;
const mayBeAhead = 300;
const renewedAfter = 1_800;

const clientLength = 8;
const serverLength = 16;
const version = 1;

/** RFC 7873 section 4: a client cookie of 8 bytes, and a server cookie of 8 to 32. */
export const isCookieLength = (length: number): boolean => length === clientLength || (length >= 16 && length <= 40);

/** The cookie of a reply, and whether the query had one that this server gave to that address. */
export type Cookie = { readonly reply: Uint8Array; readonly isKnownClient: boolean };

/**
 * The interoperable cookies of RFC 9018, so that any server with the same secret accepts them. `now` is in seconds. The
 * cookie has a valid length. `client` is its address, 4 or 16 bytes.
 */
export function answerCookie(cookie: Uint8Array, client: Uint8Array, secret: Uint8Array, now: number): Cookie {
  if (cookie.length === clientLength + serverLength) {
    const server = cookie.subarray(clientLength);
    const made = new DataView(server.buffer, server.byteOffset).getUint32(4);
    // Serial number arithmetic.
    const age = (now - made) | 0;
    const isTimely = age <= validFor && age >= -mayBeAhead && server[0] === version;
    if (isTimely && timingSafeEqual(server.subarray(8), hashOf(cookie, server.subarray(0, 8), client, secret)))
      return {
        reply: age <= renewedAfter ? cookie : withServerCookie(cookie, serverCookie(cookie, client, secret, now)),
        isKnownClient: true,
      };
  }
  return { reply: withServerCookie(cookie, serverCookie(cookie, client, secret, now)), isKnownClient: false };
}

/** The version, three reserved bytes, the time, and the hash of all of them with the client's cookie and address. */
function serverCookie(cookie: Uint8Array, client: Uint8Array, secret: Uint8Array, now: number): Uint8Array {
  const server = new Uint8Array(serverLength);
  server[0] = version;
  new DataView(server.buffer).setUint32(4, now >>> 0);
  server.set(hashOf(cookie, server.subarray(0, 8), client, secret), 8);
  return server;
}

function hashOf(cookie: Uint8Array, head: Uint8Array, client: Uint8Array, secret: Uint8Array): Uint8Array {
  const input = new Uint8Array(clientLength + head.length + client.length);
  input.set(cookie.subarray(0, clientLength));
  input.set(head, clientLength);
  input.set(client, clientLength + head.length);
  return sipHash24(secret, input);
}

function withServerCookie(cookie: Uint8Array, server: Uint8Array): Uint8Array {
  const whole = new Uint8Array(clientLength + serverLength);
  whole.set(cookie.subarray(0, clientLength));
  whole.set(server, clientLength);
  return whole;
}
