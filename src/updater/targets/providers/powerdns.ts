import { powerdnsCalls } from "../../../providers/services/powerdns.ts";
import { spacedHeaderSecret } from "../../config/secret.ts";
import { zoneCallsOf } from "../on-provider.ts";
import type { TargetKind } from "../target.ts";
import { type TokenTarget, tokenSettings } from "../token-target.ts";
import { createZoneTarget } from "../zone-target.ts";

export const powerdns = {
  ...tokenSettings(
    "Target: powerdns",
    "The HTTP API of a PowerDNS Authoritative Server. `token` is its `api-key`. Comments and disabled records are kept.",
    "https://pdns.example.org",
    spacedHeaderSecret,
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: TokenTarget, connect) =>
    createZoneTarget(zoneCallsOf(powerdnsCalls(config, await connect(config)))),
} satisfies TargetKind<TokenTarget>;
