import { expect, test } from "vitest";
import { addressBytes, parseAddress } from "../../core/addresses/address.ts";
import { answerCookie } from "./cookies.ts";
import { sipHash24 } from "./siphash.ts";

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
const addressOf = (text: string) => addressBytes(parseAddress(text) ?? expect.unreachable(text));
const hex = (data: Uint8Array) => Buffer.from(data).toString("hex");

test("SipHash-2-4 gives the results of its authors", () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => i);
  const hashOf = (length: number) =>
    hex(
      sipHash24(
        key,
        Uint8Array.from({ length }, (_, i) => i),
      ),
    );
  expect([hashOf(0), hashOf(1), hashOf(7), hashOf(8), hashOf(15), hashOf(63)]).toEqual([
    "310e0edd47db6f72",
    "fd67dc93c539f874",
    "37d1018bf50002ab",
    "6224939a79f5f593",
    "e545be4961ca29a1",
    "724506eb4c328a95",
  ]);
});

const secret = bytes("e5e973e5a6b2a43f48e7dc849e37bfcf");
const later = bytes("445536bcd2513298075a5d379663c962");

/** RFC 9018 appendix A. */
test.each([
  [
    "a new cookie",
    "2464c4abcf10c957",
    "198.51.100.100",
    secret,
    1559731985,
    "2464c4abcf10c957010000005cf79f111f8130c3eee29480",
    false,
  ],
  [
    "the same one renewed",
    "2464c4abcf10c957010000005cf79f111f8130c3eee29480",
    "198.51.100.100",
    secret,
    1559734385,
    "2464c4abcf10c957010000005cf7a871d4a564a1442aca77",
    true,
  ],
  [
    "another client, whose cookie has reserved bytes and is too old",
    "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5",
    "203.0.113.203",
    secret,
    1559734700,
    "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e",
    false,
  ],
  [
    "a client with IPv6, after the secret has changed",
    "22681ab97d52c298010000005cf7c57926556bd0934c72f8",
    "2001:db8:220:1:59de:d0f4:8769:82b8",
    later,
    1559741961,
    "22681ab97d52c298010000005cf7c609a6bb79d16625507a",
    false,
  ],
])("%s", (_, cookie, from, key, now, reply, isKnownClient) => {
  const answer = answerCookie(bytes(cookie), addressOf(from), key, now);
  expect([hex(answer.reply), answer.isKnownClient]).toEqual([reply, isKnownClient]);
});

test("a fresh cookie is returned unchanged, and one that is too old or from the future is not accepted", () => {
  const [start, from] = [1_800_000_000, "192.0.2.1"];
  const { reply } = answerCookie(bytes("0011223344556677"), addressOf(from), secret, start);
  const at = (now: number, address = from) => {
    const again = answerCookie(reply, addressOf(address), secret, now);
    return [hex(again.reply) === hex(reply), again.isKnownClient];
  };
  expect(at(start + 1_800)).toEqual([true, true]);
  expect(at(start + 1_801)).toEqual([false, true]);
  expect(at(start + 3_600)).toEqual([false, true]);
  expect(at(start + 3_601)).toEqual([false, false]);
  expect(at(start - 300)).toEqual([true, true]);
  expect(at(start - 301)).toEqual([false, false]);
  expect(at(start, "192.0.2.2")).toEqual([false, false]);
});
