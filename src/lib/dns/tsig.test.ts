import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyMessage, encodeMessage, type Message } from "./message.ts";
import {
  appendTsig,
  checkRequest,
  computeMac,
  readTsig,
  type TsigKey,
  tsigErrors,
  tsigLength,
  variables,
} from "./tsig.ts";
import { createReplyCheck, signRequest } from "./tsig-client.ts";

const keys: readonly TsigKey[] = [
  { name: "k1.example", algorithm: "hmac-sha256", secret: Buffer.alloc(32, 1) },
  { name: "k2", algorithm: "hmac-sha512", secret: Buffer.alloc(64, 2) },
];
const [key = keys[0] as TsigKey, other = key] = keys;
const keyNamed = async (name: string) => keys.find((each) => each.name === name);
const now = 1_700_000_000_000;
const at = (time: number) => () => time;

const plain: Message = {
  id: 0x1234,
  ...emptyMessage,
  questions: [{ name: "example.org", type: 252, class: 1 }],
  edns: { udpSize: 1232, version: 0, dnssecOk: false, options: [] },
};
const bytesOf = (message: Message): Buffer => encodeMessage(message);
const request = bytesOf(plain);
const reply = (id = 0x1234): Buffer => bytesOf({ ...plain, id, response: true });

const errorIn = (bytes: Buffer): number | undefined => {
  const read = readTsig(bytes);
  return typeof read === "string" ? undefined : read.tsig.error;
};

describe("a signed request", () => {
  it.each(keys)("is recognised by its key: $algorithm", async (each) => {
    const { bytes } = signRequest(request, each, now);
    expect(bytes.length).toBe(request.length + tsigLength(each));
    const checked = await checkRequest(bytes, keyNamed, at(now));
    expect(checked).toMatchObject({ kind: "with-tsig", key: each, message: request });
  });

  it("is rejected when any of its bytes is changed", async () => {
    const { bytes } = signRequest(request, key, now);
    const flip = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(flip, async ([place, bits]) => {
        const damaged = Buffer.from(bytes);
        damaged[place] = (damaged[place] ?? 0) ^ bits;
        const checked = await checkRequest(damaged, keyNamed, at(now));
        // The id may be changed in transit (RFC 8945 section 5.3.2), and names are case-insensitive.
        const harmless =
          place < 2 || damaged.toString("latin1").toLowerCase() === bytes.toString("latin1").toLowerCase();
        if (!harmless) expect(checked.kind).not.toBe("with-tsig");
      }),
      { numRuns: 500 },
    );
  });

  it("is malformed if its signature is not last, and unsigned if it has none", async () => {
    expect((await checkRequest(request, keyNamed, at(now))).kind).toBe("no-tsig");
    const { bytes } = signRequest(signRequest(request, key, now).bytes, other, now);
    expect((await checkRequest(bytes, keyNamed, at(now))).kind).toBe("malformed");
  });

  const outcome = async (bytes: Buffer, clock = now) => {
    const checked = await checkRequest(bytes, keyNamed, at(clock));
    return checked.kind === "failed" ? errorIn(checked.addTsig(reply())) : checked.kind;
  };
  const shortened = (length: number) => {
    const tsig = { ...signedFields, mac: computeMac(key, [request, variables(signedFields)]).subarray(0, length) };
    return appendTsig(request, tsig);
  };
  const withFudge = (fudge: number) => {
    const fields = { ...signedFields, fudge };
    return appendTsig(request, { ...fields, mac: computeMac(key, [request, variables(fields)]) });
  };
  const signedFields = {
    keyName: key.name,
    algorithm: key.algorithm,
    time: now / 1000,
    fudge: 300,
    originalId: 0x1234,
    error: 0,
    other: new Uint8Array(),
  };

  it.each([
    ["by an unknown key", () => signRequest(request, { ...key, name: "nobody" }, now).bytes, now, tsigErrors.badKey],
    [
      "by another algorithm",
      () => signRequest(request, { ...other, name: key.name }, now).bytes,
      now,
      tsigErrors.badKey,
    ],
    [
      "by another secret",
      () => signRequest(request, { ...key, secret: Buffer.of(9) }, now).bytes,
      now,
      tsigErrors.badSig,
    ],
    ["too early", () => signRequest(request, key, now).bytes, now - 301_000, tsigErrors.badTime],
    ["too late", () => signRequest(request, key, now).bytes, now + 301_000, tsigErrors.badTime],
    ["just in time", () => signRequest(request, key, now).bytes, now + 300_000, "with-tsig"],
    ["with a fudge that is too long", () => withFudge(60_000), now + 301_000, tsigErrors.badTime],
    ["with a fudge that is too long, in time", () => withFudge(60_000), now + 300_000, "with-tsig"],
    ["with a short fudge, too late", () => withFudge(5), now + 6_000, tsigErrors.badTime],
    ["with half a signature", () => shortened(16), now, tsigErrors.badTrunc],
    ["with less than half of one", () => shortened(15), now, "malformed"],
    ["with no signature in the record", () => shortened(0), now, "malformed"],
    ["with a full signature", () => shortened(32), now, "with-tsig"],
  ] as const)("%s", async (_, make, clock, expected) => {
    expect(await outcome(make(), clock)).toBe(expected);
  });

  it.each([
    ["a valid one", now, undefined],
    ["one that is too late", now + 1_000_000, "BADTIME"],
  ])(
    "keeps the id that a forwarder gave it, and its reply is signed with the id of the client: %s",
    async (_, clock, fault) => {
      const { bytes, mac } = signRequest(request, key, now);
      bytes.writeUInt16BE(0x4321, 0);
      const checked = await checkRequest(bytes, keyNamed, at(clock));
      if (checked.kind !== "with-tsig" && checked.kind !== "failed") throw new Error(checked.kind);
      for (const signed of [
        checked.addTsig(reply()),
        checked.kind === "with-tsig" ? checked.addTsig(reply()) : undefined,
      ]) {
        if (signed === undefined) continue;
        expect(signed.readUInt16BE(0)).toBe(0x4321);
        expect(readTsig(signed)).toMatchObject({ tsig: { originalId: 0x1234 } });
      }
      const again = await checkRequest(bytes, keyNamed, at(clock));
      if (again.kind !== "with-tsig" && again.kind !== "failed") throw new Error(again.kind);
      const result = createReplyCheck(key, mac, at(now)).check(again.addTsig(reply()));
      if (fault === undefined) expect(result).toEqual({ message: reply() });
      else expect(result).toMatchObject({ fault: expect.stringContaining(fault) });
    },
  );

  it("keeps the id that a forwarder gave it when its key is not known", async () => {
    const { bytes } = signRequest(request, { ...key, name: "nobody" }, now);
    bytes.writeUInt16BE(0x4321, 0);
    const checked = await checkRequest(bytes, keyNamed, at(now));
    if (checked.kind !== "failed") throw new Error(checked.kind);
    const refused = checked.addTsig(reply());
    expect([refused.readUInt16BE(0), errorIn(refused)]).toEqual([0x4321, tsigErrors.badKey]);
  });

  it("that is too late gets the server's time in a signed reply", async () => {
    const { bytes, mac } = signRequest(request, key, now);
    const late = now + 1_000_000;
    const checked = await checkRequest(bytes, keyNamed, at(late));
    if (checked.kind !== "failed") throw new Error("not refused");
    const signed = checked.addTsig(reply());
    const read = readTsig(signed);
    if (typeof read === "string") throw new Error(read);
    expect(Buffer.from(read.tsig.other).readUIntBE(0, 6)).toBe(late / 1000);
    expect(createReplyCheck(key, mac, at(now)).check(signed)).toEqual({
      verified: true,
      fault:
        "the signature was refused: BADTIME, the clocks of both sides are more than 5 minutes apart; correct the wrong one",
    });
  });
});

describe("the messages of a signed reply", () => {
  const exchange = async (count: number) => {
    const { bytes, mac } = signRequest(request, key, now);
    const checked = await checkRequest(bytes, keyNamed, at(now));
    if (checked.kind !== "with-tsig") throw new Error("not signed");
    const { addTsig } = checked;
    return { messages: Array.from({ length: count }, () => addTsig(reply())), ...createReplyCheck(key, mac, at(now)) };
  };

  it("are each covered", async () => {
    const { messages, check, complete } = await exchange(3);
    for (const message of messages) {
      expect(check(message)).toEqual({ message: reply() });
      expect(complete()).toBe(true);
    }
  });

  it("are not accepted out of order, twice, or from the middle", async () => {
    const [first, second, third] = (await exchange(3)).messages;
    if (!first || !second || !third) throw new Error("too few");
    const rows: readonly (readonly Buffer[])[] = [[second], [first, third], [first, first], [first, second, second]];
    for (const row of rows) {
      const { check } = await exchange(0);
      const outcomes = row.map((message) => "fault" in check(message));
      expect(outcomes.at(-1)).toBe(true);
    }
  });

  it("may be unsigned in the middle, but not the first one, and not too many in a row", async () => {
    const { messages, check, complete } = await exchange(1);
    expect(check(reply())).toEqual({ fault: "the answer is not signed" });
    expect(check(messages[0] ?? reply())).toEqual({ message: reply() });
    for (let i = 0; i < 99; i++) expect(check(reply())).toEqual({ message: reply() });
    expect(complete()).toBe(false);
    expect(check(reply())).toEqual({ fault: "the answer is not signed" });
  });
});

it("reads any bytes without failing", () => {
  const anyBytes = fc.uint8Array({ maxLength: 300 });
  fc.assert(fc.property(anyBytes, (bytes) => void readTsig(Buffer.from(bytes))));
  const { bytes } = signRequest(request, key, now);
  fc.assert(
    fc.property(fc.nat(bytes.length), fc.nat(bytes.length - 1), fc.nat(255), (end, place, value) => {
      const damaged = Buffer.from(bytes.subarray(0, end));
      if (place < end) damaged[place] = value;
      readTsig(damaged);
    }),
    { numRuns: 2_000 },
  );
});
