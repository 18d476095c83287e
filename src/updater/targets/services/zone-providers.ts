import { providerRows } from "../../../contract/provider-kinds.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { needed } from "../../../lib/settings/mapping.ts";
import { text } from "../../../lib/settings/setting.ts";
import type { ProviderAccount, ProviderCalls } from "../../../providers/provider-calls.ts";
import { cloudflareCalls } from "../../../providers/services/cloudflare/cloudflare.ts";
import { desecCalls } from "../../../providers/services/desec.ts";
import { netcupCloudCalls } from "../../../providers/services/netcup-cloud.ts";
import { powerdnsCalls } from "../../../providers/services/powerdns.ts";
import { headerSecret, spacedHeaderSecret } from "../../config/secret.ts";
import { setCallsOf, zoneCallsOf } from "../on-provider.ts";
import { createSetTarget } from "../set-target.ts";
import type { Connect, TargetKind } from "../target.ts";
import { hosted, hostedSettings, type TokenTarget, tokenSettings } from "../token-target.ts";
import { createZoneTarget } from "../zone-target.ts";

/** The services whose calls are a file of `src/providers/services`: zones are published there too. */

const inOneTransaction =
  <Raw>(callsOf: (account: ProviderAccount, client: HttpClient) => ProviderCalls<Raw>) =>
  async (config: TokenTarget, connect: Connect) =>
    createZoneTarget(zoneCallsOf(callsOf(config, await connect(config))));

export const cloudflare = {
  ...hosted(
    "Target: cloudflare",
    "Cloudflare's API, version 4. The proxy setting, comment and tags of a record are kept.",
    providerRows.cloudflare.url,
    {
      token: needed(
        headerSecret("An API token with the permission Zone / DNS / Edit for the zone. Not the global API key."),
      ),
      account: text(
        "The id of the account that has the zone. Needed only if the token sees two zones of that name.",
        "01a7362d577a6c3019a474fd6f485823",
      ),
    },
  ),
  can: { create: true, ttl: true },
  async open(config: TokenTarget, connect) {
    const { remove: _, ...calls } = setCallsOf(cloudflareCalls(config, await connect(config)));
    return createSetTarget(calls);
  },
} satisfies TargetKind<TokenTarget>;

export const desec = {
  ...hostedSettings(
    "Target: desec",
    "deSEC's API. It limits writes to 15 per minute and 300 per day for each zone, and most zones to a TTL of at least 3600.",
    providerRows.desec.url,
    "A token with write permission for the record sets.",
  ),
  can: { create: true, ttl: true, remove: true },
  open: inOneTransaction(desecCalls),
} satisfies TargetKind<TokenTarget>;

export const netcupCloud = {
  ...hostedSettings(
    "Target: netcup-cloud",
    "The API of netcup's CloudDNS, to which netcup moves zones since summer 2026. Zones that have not moved need `api: netcup`.",
    providerRows["netcup-cloud"].url,
    "An API key of the customer control panel, not a legacy key.",
  ),
  can: { create: true, ttl: true, remove: true },
  open: inOneTransaction(netcupCloudCalls),
} satisfies TargetKind<TokenTarget>;

export const powerdns = {
  ...tokenSettings(
    "Target: powerdns",
    "The HTTP API of a PowerDNS Authoritative Server. `token` is its `api-key`. Comments and disabled records are kept.",
    "https://pdns.example.org",
    spacedHeaderSecret,
  ),
  can: { create: true, ttl: true, remove: true },
  open: inOneTransaction(powerdnsCalls),
} satisfies TargetKind<TokenTarget>;
