import { desecCalls } from "../../../providers/services/desec.ts";
import { zoneCallsOf } from "../on-provider.ts";
import type { TargetKind } from "../target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { createZoneTarget } from "../zone-target.ts";

export const desec = {
  ...hostedSettings(
    "Target: desec",
    "deSEC's API. It limits writes to 15 per minute and 300 per day for each zone, and most zones to a TTL of at least 3600.",
    "https://desec.io/api/v1",
    "A token with write permission for the record sets.",
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: TokenTarget, connect) =>
    createZoneTarget(zoneCallsOf(desecCalls(config, await connect(config)))),
} satisfies TargetKind<TokenTarget>;
