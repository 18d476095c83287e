import { addressBytes, addressFromBytes, parseAddress } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import type { Instant } from "../../core/instant.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { Asking } from "../../lib/dns/ask.ts";
import { classes, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import type { Message, ResourceRecord } from "../../lib/dns/message.ts";
import { later } from "../../providers/answers/service-answer.ts";
import { unknown, type WriteAnswer } from "../../providers/answers/write-answer.ts";
import type { SetName } from "../../providers/provider-calls.ts";
import { readEach } from "../../providers/read-sets.ts";
import { type Rfc2136Target, rfc2136Settings } from "./rfc2136-settings.ts";
import { cannotList, type NewContent } from "./set-target.ts";
import type { TargetFault, TargetKind } from "./target.ts";
import { createZoneTarget, type SetChange, type ZoneCalls } from "./zone-target.ts";

export const rfc2136 = {
  ...rfc2136Settings,
  can: { create: true, ttl: true, remove: true },
  open: async (config: Rfc2136Target) => createZoneTarget(updateCalls(config)),
} satisfies TargetKind<Rfc2136Target>;

const service = "the nameserver";
const usualTimeout = 15_000;
/** For a record that is created, if the config has no `ttl:`. */
const usualTtl = 300;
const typeCodeOf = (type: string) => (type === "A" ? 1 : 28);
const cname = 5;

/** Without content, the set is removed. */
type Change = Pick<SetChange<undefined>, "set" | "held"> & { readonly content?: NewContent };

type Heard =
  | { readonly kind: "heard"; readonly message: Message }
  | Silence
  /** The server rejected our signature, and signed that. */
  | { readonly kind: "rejected"; readonly fault: TargetFault };

/**
 * No answer, or one that cannot be verified: somebody in between may have changed it, so what the server did is unknown.
 * `refused`: it was REFUSED without a signature, as Knot sends it for a zone that it does not have.
 */
type Silence = { readonly kind: "silence"; readonly fault: TargetFault; readonly refused: boolean };

/** Reads by a query to the same server; both are signed. Nothing but the records is known, so there is no `rest`. */
export function updateCalls(config: Rfc2136Target, now: () => Instant = Date.now): ZoneCalls<undefined> {
  const ask = async (asking: Asking, signal: AbortSignal): Promise<Heard> => {
    // Loaded on first use: most updaters use HTTP.
    const { askTcp, UntrustedReply } = await import("../../lib/dns/ask.ts");
    const { host, port, timeout: limit = usualTimeout } = config;
    try {
      for await (const { message } of askTcp({ host, port, key: config.key() }, asking, { signal, limit, now })) {
        return { kind: "heard", message };
      }
      return { kind: "silence", fault: unreached("it closed the connection"), refused: false };
    } catch (error) {
      const { message, cause } = error as Error;
      if (!(cause instanceof UntrustedReply)) return { kind: "silence", fault: unreached(message), refused: false };
      const fault = untrusted(cause.message, config);
      if (cause.verified) return { kind: "rejected", fault };
      return { kind: "silence", fault, refused: cause.rcode === rcodes.refused };
    }
  };
  const read: ZoneCalls<undefined>["read"] = async (set, signal) => {
    const heard = await ask({ opcode: opcodes.query, question: questionOf(set) }, signal);
    if (heard.kind === "heard") return heldIn(heard.message, set);
    return heard.kind === "silence" && heard.refused ? notItsZone(set) : heard.fault;
  };
  const send = async (changes: readonly Change[], signal: AbortSignal) =>
    outcomeOf(await ask(updateOf(changes), signal), changes, config);
  return {
    service,
    read,
    async write(set, content, held, signal) {
      const written = await send([{ set, content, held }], signal);
      if (written !== "no-such-set") return settled(written);
      // The query may have been answered from a wildcard: then there is no such set to replace, and one can be created.
      const ttl = content.ttl ?? held?.ttl ?? undefined;
      return settled(await send([{ set, content: { ...content, ttl }, held: undefined }], signal));
    },
    remove: async (set, held, signal) => settled(await send([{ set, held }], signal)),
    readAll: (sets, signal) => readEach((set) => read(set, signal), sets),
    writeAll: async (changes, signal) => settled(await send(changes, signal)),
    room: { of: sizeOf, most: mostBytes },
    zones: async () => cannotList(service, notListed),
    records: async () => cannotList(service, notListed),
    close: () => undefined,
  };
}

const notListed = "look on the nameserver, for example with `dig @SERVER ZONE AXFR`";

const nameOf = ({ zone, name }: SetName) => absoluteName(name, zone);

const questionOf = (set: SetName) => ({ name: nameOf(set), type: typeCodeOf(set.type), class: classes.in });

const recordOf = (set: SetName, klass: number, ttl: number, data: Uint8Array = new Uint8Array()): ResourceRecord => ({
  ...questionOf(set),
  class: klass,
  ttl,
  data,
});

function dataOf(value: string): Uint8Array {
  const address = parseAddress(value);
  if (address === undefined) throw new Error(`not an address: ${value}`);
  return addressBytes(address);
}

/** RFC 2136 section 2.4: the update is carried out only if every set is exactly as it was read, or still missing. */
function updateOf(changes: readonly Change[]): Asking {
  const zone = changes[0]?.set.zone ?? "";
  return {
    opcode: opcodes.update,
    question: { name: zone, type: types.soa, class: classes.in },
    answers: changes.flatMap(({ set, held }) => {
      const values = held?.values ?? [];
      if (values.length === 0) return [recordOf(set, classes.none, 0)];
      return values.map((value) => recordOf(set, classes.in, 0, dataOf(value)));
    }),
    authorities: changes.flatMap(({ set, content, held }) => [
      ...(held?.values.length ? [recordOf(set, classes.any, 0)] : []),
      ...(content ? [recordOf(set, classes.in, content.ttl ?? held?.ttl ?? usualTtl, dataOf(content.value))] : []),
    ]),
  };
}

/** A message over TCP has at most 65,535 bytes; the header and the signature need less than 1,000. */
const mostBytes = 64_000;

/** The three records of a change, each with its name in full, the ten bytes of its fields, and an address. */
const sizeOf = ({ set }: Change): number => 3 * (nameOf(set).length + 2 + 10 + 16);

function heldIn(message: Message, set: SetName) {
  if (message.rcode !== rcodes.noError && message.rcode !== rcodes.nxDomain) return refusalOfQuery(message.rcode, set);
  if (!message.authoritative) return notItsZone(set);
  const own = message.answers.filter(({ name, class: klass }) => name === nameOf(set) && klass === classes.in);
  if (own.some(({ type }) => type === cname)) return isAlias(set);
  const found = own.filter(({ type }) => type === typeCodeOf(set.type));
  const [first] = found;
  if (!first) return { kind: "found", value: undefined } as const;
  const values = found.map(({ data }) => addressFromBytes(data)?.text ?? "");
  return { kind: "found", value: { values, ttl: first.ttl, rest: undefined } } as const;
}

function outcomeOf(
  heard: Heard,
  changes: readonly Change[],
  config: Rfc2136Target,
): WriteAnswer<undefined> | "no-such-set" {
  if (heard.kind === "silence") return unknown(heard.fault);
  if (heard.kind === "rejected") return { kind: "refused", because: heard.fault };
  const { rcode } = heard.message;
  if (rcode === rcodes.noError) return { kind: "accepted", value: undefined };
  if (rcode === rcodes.nxRrset || rcode === rcodes.nxDomain) return "no-such-set";
  const fault = refusalOfUpdate(rcode, changes, config);
  // After a failure in between, a server must undo everything (RFC 2136 section 3.4.2), but perhaps not every server does.
  return rcode === rcodes.servFail ? unknown(fault) : { kind: "refused", because: fault };
}

const settled = (written: WriteAnswer<undefined> | "no-such-set"): WriteAnswer<undefined> =>
  written === "no-such-set" ? { kind: "refused", because: changedMeanwhile } : written;

const changedMeanwhile = later(
  "another client changed the record at the same time",
  "no action needed: moor reads it and retries",
);

const unreached = (because: string): TargetFault => ({
  ...later(
    `the nameserver cannot be reached: ${because}`,
    "check `server:` in the config, and that the nameserver accepts TCP there",
  ),
  unreached: true,
  ofService: true,
});

/** `because` comes from `createReplyCheck`, not from the server. */
const untrusted = (because: string, { key }: Rfc2136Target): TargetFault => ({
  kind: "unauthorised",
  because: `the key ${key().name} does not work with the nameserver: ${because}`,
  todo: "use the same key name, algorithm and secret on both sides, check both clocks, and check that nothing in between changes DNS messages",
});

const notItsZone = ({ zone }: SetName): TargetFault => ({
  kind: "missing",
  because: `the nameserver has no zone ${zone}, or refuses queries for it`,
  todo: "set `server:` to the zone's primary nameserver, and check `zone:`",
});

const isAlias = (set: SetName): TargetFault => ({
  kind: "refused",
  because: `${nameOf(set)} is an alias (CNAME), which can have no ${set.type} record`,
  todo: "remove the alias, or update the name that it points to",
});

function refusalOfQuery(rcode: number, set: SetName): TargetFault {
  // BIND refuses queries about zones that it does not have; other servers answer NOTAUTH.
  if (rcode === rcodes.refused || rcode === rcodes.notAuth) return notItsZone(set);
  return { ...later(`the nameserver answered the query for ${nameOf(set)} with ${codeName(rcode)}`), ofService: true };
}

function refusalOfUpdate(rcode: number, changes: readonly Change[], { key }: Rfc2136Target): TargetFault {
  const names = firstFew(changes.map(({ set }) => `${nameOf(set)} ${set.type}`));
  const because = `the nameserver refused the update of ${names} (${codeName(rcode)})`;
  switch (rcode) {
    case rcodes.refused:
      return {
        kind: "unauthorised",
        because,
        todo: `allow the key ${key().name} to change this name there: ${grants}`,
      };
    case rcodes.notAuth:
      return { kind: "missing", because, todo: "set `server:` to the zone's primary nameserver, and check the key" };
    case rcodes.notZone:
      return { kind: "refused", because, todo: "correct `zone:`; the name is not in it" };
    case rcodes.yxRrset:
    case rcodes.yxDomain:
      return changedMeanwhile;
    case rcodes.servFail:
      return {
        ...later(because, "no action needed: moor retries; see the nameserver's log if this goes on"),
        ofService: true,
      };
    case rcodes.notImp:
      return { kind: "refused", because, todo: `turn on dynamic updates there: ${grants}` };
    default:
      return { kind: "refused", because, todo: "see the nameserver's log" };
  }
}

const grants =
  "`update-policy` in BIND, an `acl` with `action: update` in Knot, TSIG-ALLOW-DNSUPDATE in PowerDNS, `moor transfer-key add --update`";

const codeNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(rcodes).map(([name, code]) => [code, name.toUpperCase()]),
);

const codeName = (rcode: number) => codeNames[rcode] ?? `error ${rcode}`;
