import { bracketed } from "../../core/addresses/address.ts";
import { parseServer } from "../../core/addresses/server-address.ts";
import type { Instant } from "../../core/instant.ts";
import { parseKeyFile, type TsigKey } from "../../lib/dns/tsig.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import { duration, path, refined, type SettingPlace, text } from "../../lib/settings/setting.ts";
import { cannotList } from "../../providers/answers/service-answer.ts";
import { readEach } from "../../providers/read-sets.ts";
import { updateCalls } from "../../providers/services/dns-update/update-calls.ts";
import type { TargetConfig } from "../config/kinds.ts";
import { readSecretFile } from "../config/secret.ts";
import { zoneCallsOf } from "./on-provider.ts";
import type { TargetKind } from "./target.ts";
import { createZoneTarget, type ZoneCalls } from "./zone-target.ts";

export type Rfc2136Target = TargetConfig & {
  readonly host: string;
  readonly port: number;
  /** A function, so that printing or logging a config by mistake shows no secret. */
  readonly key: () => TsigKey;
};

const server = refined(
  text("The primary nameserver of the zone: an address or a name, with a port if it is not 53.", "192.0.2.53"),
  (written, { what, fault }) => {
    const parsed = parseServer(written);
    const address = parsed && `dns://${bracketed(parsed.host)}:${parsed.port}`;
    if (parsed && address !== undefined && URL.canParse(address)) return { ...parsed, url: new URL(address) };
    const todo = "write 192.0.2.53, ns1.example.org or [2001:db8::53]:5353";
    return fault({ code: "bad-server", message: `${what} is not the address of a nameserver`, todo });
  },
);

/** `key "home" { algorithm hmac-sha256; secret "…"; };` */
function readKey(file: string, place: SettingPlace): (() => TsigKey) | undefined {
  const content = readSecretFile(file, place);
  if (content === undefined) return undefined;
  const key = parseKeyFile(content);
  const bad = (message: string, todo: string) =>
    place.fault({ code: "bad-key", message: `${place.what} ${message}`, todo });
  if (key === "no-key") {
    return bad(
      'has no key "name" { algorithm …; secret "…"; };',
      "use the file written by `moor transfer-key add --update --to` or tsig-keygen",
    );
  }
  if (key === "unknown-algorithm")
    return bad("has an algorithm that moor does not know", "use hmac-sha256 on both sides");
  return () => key;
}

const rfc2136Settings = mapping(
  {
    server: needed(server),
    keyFile: needed(
      refined(
        path("A file with the TSIG key, as written by `moor transfer-key add` or tsig-keygen.", "secrets/home.key"),
        readKey,
      ),
    ),
    timeout: duration("How long one request may take.", "30s", { default: "15s" }),
  },
  {
    title: "Target: rfc2136",
    description:
      "DNS UPDATE (RFC 2136) with TSIG over TCP: BIND, Knot, PowerDNS, `moor records`. Every update has the prerequisite that the record still holds what moor read.",
    transform: ({ server, keyFile, ...rest }) => ({ ...rest, ...server, key: keyFile }),
  },
);

export const rfc2136 = {
  ...rfc2136Settings,
  can: { create: true, ttl: true, remove: true },
  open: async (config: Rfc2136Target) => createZoneTarget(rfc2136Calls(config)),
} satisfies TargetKind<Rfc2136Target>;

/** Most keys of an updater may change a few names, and transfer no zone: nothing is listed. */
export function rfc2136Calls(config: Rfc2136Target, now?: () => Instant): ZoneCalls<undefined> {
  const calls = zoneCallsOf(updateCalls(config, { onlyQueries: true, now }));
  const notListed = async () =>
    cannotList(calls.service, "look on the nameserver, for example with `dig @SERVER ZONE AXFR`");
  return {
    ...calls,
    readAll: (sets, signal) => readEach((set) => calls.read(set, signal), sets),
    zones: notListed,
    records: notListed,
  };
}
