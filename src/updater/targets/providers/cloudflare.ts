import { cloudflareCalls } from "../../../providers/services/cloudflare/cloudflare.ts";
import { setCallsOf } from "../on-provider.ts";
import { createSetTarget } from "../set-target.ts";
import type { TargetKind } from "../target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";

export const cloudflare = {
  ...hostedSettings(
    "Target: cloudflare",
    "Cloudflare's API, version 4. The proxy setting, comment and tags of a record are kept.",
    "https://api.cloudflare.com/client/v4",
    "An API token with the permission Zone / DNS / Edit for the zone. Not the global API key.",
  ),
  can: { create: true, ttl: true },
  async open(config: TokenTarget, connect) {
    const { remove: _, ...calls } = setCallsOf(cloudflareCalls(config, await connect(config)));
    return createSetTarget(calls);
  },
} satisfies TargetKind<TokenTarget>;
