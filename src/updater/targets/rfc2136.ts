import type { Instant } from "../../core/instant.ts";
import { cannotList } from "../../providers/answers/service-answer.ts";
import { readEach } from "../../providers/read-sets.ts";
import { updateCalls } from "../../providers/services/dns-update/update-calls.ts";
import { zoneCallsOf } from "./on-provider.ts";
import { type Rfc2136Target, rfc2136Settings } from "./rfc2136-settings.ts";
import type { TargetKind } from "./target.ts";
import { createZoneTarget, type ZoneCalls } from "./zone-target.ts";

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
