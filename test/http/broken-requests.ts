import { pick, type Random } from "../rig/random.ts";
import { oddParts } from "./invented-requests.ts";
import type { StartedService } from "./started-services.ts";

const methods = ["GET", "GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT", "PRI", "NONSENSE"];
const versions = ["1.1", "1.1", "1.1", "1.0", "2.0", "0.9"];
const bodies = ["", "{", '{"name":"a.example"}', "x".repeat(100_000)];

/** What is wrong with a request apart from its path: its headers, and the body as announced and as sent. */
const bents: readonly ((body: string) => readonly [headers: string, body: string])[] = [
  () => ["", ""],
  (body) => [`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`, body],
  (body) => [`Content-Length: ${body.length + 50}\r\n`, body],
  (body) => ["Transfer-Encoding: chunked\r\n", `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  () => ["Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"],
  (body) => ["Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", body],
  () => ["Expect: 100-continue\r\nContent-Length: 10\r\n", ""],
  () => ["Expect: something\r\n", ""],
  () => ["Upgrade: websocket\r\nConnection: Upgrade\r\n", ""],
  () => ["Connection: close\r\n", ""],
  () => [`X-Long: ${"y".repeat(20_000)}\r\n`, ""],
  () => [Array.from({ length: 3_000 }, (_, i) => `X-${i}: y\r\n`).join(""), ""],
  () => [`Cookie: ${"=;".repeat(2_000)}\r\n`, ""],
];

/** The bytes of requests for these and similar paths, some truncated, some not HTTP at all. */
export function createBroken(random: Random, paths: readonly string[], secret: StartedService["secret"]): () => Buffer {
  const chance = (percent: number) => random(100) < percent;
  const leadingIn = Object.entries(secret)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const pathOf = () => {
    const parts = pick(random, paths).split("/");
    if (chance(40)) parts[random(parts.length)] = pick(random, oddParts);
    return parts.join("/") || "*";
  };
  return () => {
    if (chance(5)) return Buffer.from(Array.from({ length: 200 }, () => random(256)));
    const [headers, body] = pick(random, bents)(pick(random, bodies));
    const host = chance(90) ? "Host: localhost\r\n" : "";
    const line = `${pick(random, methods)} ${pathOf()} HTTP/${pick(random, versions)}\r\n`;
    const whole = Buffer.from(`${line}${host}${chance(80) ? leadingIn : ""}${headers}\r\n${body}`, "latin1");
    return chance(20) ? whole.subarray(0, random(whole.length)) : whole;
  };
}
