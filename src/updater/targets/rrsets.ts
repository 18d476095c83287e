import { lowestTtl } from "../../contract/rrsets-limits.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { type PollingTimes, rrsetsCalls } from "../../providers/services/hetzner/rrsets.ts";
import { setCallsOf } from "./on-provider.ts";
import { replaceSetsTogether } from "./rrsets-together.ts";
import { createSetTarget } from "./set-target.ts";
import type { RecordTarget, TargetKind } from "./target.ts";
import { hostedSettings, type TokenTarget, tokenSettings } from "./token-target.ts";

export const rrsets = {
  ...tokenSettings(
    "Target: rrsets",
    "`Authorization: Bearer` and `/v1/zones/…/rrsets`, the newer of the two APIs of `moor records`. For Hetzner, use `hetzner`.",
    "https://dns.example.org:8053",
  ),
  can: { create: true, ttl: true, lowestTtl, remove: true },
  open: async (config: TokenTarget, connect) => createRRsetsTarget(config, await connect(config)),
} satisfies TargetKind<TokenTarget>;

/** The same API at Hetzner, where most users have it: no URL is needed. */
export const hetzner = {
  ...rrsets,
  ...hostedSettings(
    "Target: hetzner",
    "Hetzner's DNS service: `rrsets` with its URL.",
    "https://api.hetzner.cloud",
    "An API token of the project that has the zone, with read and write permission.",
  ),
  async open(config: TokenTarget, connect) {
    const { replaceAll: _, ...target } = await rrsets.open(config, connect);
    return target;
  },
} satisfies TargetKind<TokenTarget>;

/** The newer record service: whole sets, and writes that continue after the answer. */
export function createRRsetsTarget(
  config: TokenTarget,
  client: HttpClient,
  now: () => number = Date.now,
  waiting?: PollingTimes,
): RecordTarget {
  const comment = () => commentAt(now());
  const calls = rrsetsCalls(config, client, { comment, now, waiting });
  return {
    ...createSetTarget({ ...setCallsOf(calls), beforeWrite: "nothing" }),
    replaceAll: (requests, signal) => replaceSetsTogether(calls, comment, requests, signal),
  };
}

/** `YYYY-MM-DD HH:MM:SS (UTC)`. */
const commentAt = (now: number) => `${new Date(now).toISOString().slice(0, 19).replace("T", " ")} (UTC)`;
