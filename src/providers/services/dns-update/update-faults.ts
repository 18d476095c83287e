import { firstFew } from "../../../core/first-few.ts";
import { absoluteName } from "../../../core/names/name.ts";
import { rcodes } from "../../../lib/dns/codes.ts";
import { later } from "../../answers/service-answer.ts";
import type { ServiceFault } from "../../answers/service-fault.ts";
import type { SetName } from "../../provider-calls.ts";

/** What goes wrong with DNS UPDATE, in words. */

export const service = "the nameserver";

export const changedMeanwhile = later(
  "another client changed the record at the same time",
  "no action needed: moor reads it and retries",
);

export const unreached = (because: string): ServiceFault => ({
  ...later(
    `the nameserver cannot be reached: ${because}`,
    "check `server:` in the config, and that the nameserver accepts TCP there",
  ),
  unreached: true,
  ofService: true,
});

/** `because` comes from `createReplyCheck`, not from the server. */
export const untrusted = (because: string, key: string): ServiceFault => ({
  kind: "unauthorised",
  because: `the key ${key} does not work with the nameserver: ${because}`,
  todo: "use the same key name, algorithm and secret on both sides, check both clocks, and check that nothing in between changes DNS messages",
});

export const notItsZone = (zone: string): ServiceFault => ({
  kind: "missing",
  because: `the nameserver has no zone ${zone}, or refuses queries for it`,
  todo: "set `server:` to the zone's primary nameserver, and check `zone:`",
});

export const isAlias = ({ zone, name, type }: SetName): ServiceFault => ({
  kind: "refused",
  because: `${absoluteName(name, zone)} is an alias (CNAME), which can have no ${type} record`,
  todo: "remove the alias, or update the name that it points to",
});

export function refusalOfQuery(rcode: number, zone: string, what: string): ServiceFault {
  // BIND refuses queries about zones that it does not have; other servers answer NOTAUTH.
  if (rcode === rcodes.refused || rcode === rcodes.notAuth) return notItsZone(zone);
  return { ...later(`the nameserver answered the ${what} with ${codeName(rcode)}`), ofService: true };
}

export function refusalOfTransfer(rcode: number, zone: string, key: string): ServiceFault {
  if (rcode !== rcodes.refused && rcode !== rcodes.notAuth)
    return refusalOfQuery(rcode, zone, `request to transfer ${zone}`);
  return {
    kind: "unauthorised",
    because: `the nameserver does not transfer ${zone} (${codeName(rcode)})`,
    todo: `check the zone's name, and allow the key ${key} to transfer it: \`allow-transfer\` in BIND, an \`acl\` with \`action: transfer\` in Knot, TSIG-ALLOW-AXFR in PowerDNS`,
  };
}

/** `names`: the sets of the update, with their types. */
export function refusalOfUpdate(rcode: number, names: readonly string[], key: string): ServiceFault {
  const because = `the nameserver refused the update of ${firstFew(names)} (${codeName(rcode)})`;
  switch (rcode) {
    case rcodes.refused:
      return { kind: "unauthorised", because, todo: `allow the key ${key} to change this name there: ${grants}` };
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
