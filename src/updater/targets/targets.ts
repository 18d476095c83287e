import type { IncomingHttpHeaders } from "node:http";
import { kindsOf } from "../../lib/settings/mapping.ts";
import type { TargetConfig } from "../config/kinds.ts";
import { dyndns2 } from "./dyndns2.ts";
import { type HttpTarget, httpSettings } from "./http-call/http-settings.ts";
import { createHttpTarget } from "./http-call/http-target.ts";
import { httpPresets } from "./http-call/presets.ts";
import { rfc2136 } from "./rfc2136.ts";
import { hetzner, rrsets } from "./rrsets.ts";
import { bunny } from "./services/bunny.ts";
import { digitalocean } from "./services/digitalocean.ts";
import { gandi } from "./services/gandi.ts";
import { godaddy } from "./services/godaddy.ts";
import { inwx } from "./services/inwx.ts";
import { ionos } from "./services/ionos.ts";
import { namecheap } from "./services/namecheap.ts";
import { namecom } from "./services/namecom.ts";
import { netcup } from "./services/netcup.ts";
import { ovh } from "./services/ovh.ts";
import { porkbun } from "./services/porkbun.ts";
import { route53 } from "./services/route53.ts";
import { spaceship } from "./services/spaceship.ts";
import { vultr } from "./services/vultr.ts";
import { cloudflare, desec, netcupCloud, powerdns } from "./services/zone-providers.ts";
import type { RecordTarget, RemoveOutcome, TargetFault, TargetKind, TogetherOutcome } from "./target.ts";
import { v1 } from "./v1.ts";

const http = {
  ...httpSettings,
  can: { create: false, ttl: false },
  open: async (config: HttpTarget, connect) => createHttpTarget(config.call, await connect(config)),
} satisfies TargetKind<HttpTarget>;

/**
 * All APIs for writing records, each with what people call it, in the order in which they are offered: the first can
 * create records.
 */
const rows: Readonly<Record<string, readonly [called: string, kind: TargetKind<never>]>> = {
  rrsets: ["moor records", rrsets],
  hetzner: ["Hetzner", hetzner],
  cloudflare: ["Cloudflare", cloudflare],
  desec: ["deSEC", desec],
  rfc2136: ["BIND, Knot or PowerDNS (DNS UPDATE)", rfc2136],
  powerdns: ["PowerDNS (HTTP API)", powerdns],
  route53: ["Amazon Route 53", route53],
  ovh: ["OVHcloud", ovh],
  ionos: ["IONOS", ionos],
  gandi: ["Gandi", gandi],
  digitalocean: ["DigitalOcean", digitalocean],
  porkbun: ["Porkbun", porkbun],
  inwx: ["INWX", inwx],
  netcup: ["netcup, for zones that have not moved to CloudDNS", netcup],
  "netcup-cloud": ["netcup CloudDNS", netcupCloud],
  namecheap: ["Namecheap", namecheap],
  bunny: ["bunny.net", bunny],
  spaceship: ["Spaceship", spaceship],
  namecom: ["name.com", namecom],
  godaddy: ["GoDaddy", godaddy],
  vultr: ["Vultr", vultr],
  dyndns2: ["No-IP, Dyn and other dyndns2 services", dyndns2],
  ...httpPresets,
  http: ["another service, by one HTTP request", http],
  v1: ["moor records, with its older API", v1],
};

export const targetKinds: Readonly<Record<string, TargetKind<never>>> = Object.fromEntries(
  Object.entries(rows).map(([api, [, kind]]) => [api, kind]),
);

export const targetNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(rows).map(([api, [called]]) => [api, called]),
);

/** Those that are a row of `http-call/services.ts`. */
export const presets: readonly string[] = Object.keys(httpPresets);

export const usualApi = "v1";

/** An entry of `targets:`. */
export const targetSettings = kindsOf("api", targetKinds, { description: "The API to use.", usual: usualApi });

/** `onAnswer` gets the headers of every answer: they show the remaining quota. */
export async function openTarget(
  config: TargetConfig,
  onAnswer: (headers: IncomingHttpHeaders) => void = () => undefined,
): Promise<RecordTarget> {
  const kind = targetKinds[config.api];
  if (!kind) throw new Error(`no target with the api ${config.api}`);
  const target = await kind.open(config as never, async (endpoint) => {
    const client = await (await import("../../lib/http-client/client.ts")).createHttpClient(endpoint);
    return {
      ...client,
      async send(request, signal) {
        const outcome = await client.send(request, signal);
        if (outcome.kind === "answer") onAnswer(outcome.headers);
        return outcome;
      },
    };
  });
  return namingCommands(target, config);
}

/** Completes the commands in `todo` texts, so that they can be typed as shown and use the same service. */
function namingCommands(target: RecordTarget, { program = "moor", flags }: TargetConfig): RecordTarget {
  const typed = (_: string, verb: string) => `\`${[program, verb, ...(flags === undefined ? [] : [flags])].join(" ")}`;
  const named = <T extends { readonly kind: string }>(outcome: T | TargetFault): T | TargetFault =>
    "todo" in outcome ? worded(outcome) : outcome;
  const worded = (fault: TargetFault) => ({ ...fault, todo: fault.todo.replaceAll(commands, typed) });
  const ended = <T extends TogetherOutcome | RemoveOutcome>(outcome: T): T =>
    "fault" in outcome ? { ...outcome, fault: worded(outcome.fault) } : outcome;
  const withWords =
    (replaceAll: NonNullable<RecordTarget["replaceAll"]>): typeof replaceAll =>
    async (requests, signal) =>
      (await replaceAll(requests, signal)).map(ended);
  const withWordsFor =
    (remove: NonNullable<RecordTarget["remove"]>): typeof remove =>
    async (request, signal) =>
      ended(await remove(request, signal));
  return {
    replace: async (request, signal) => ended(await target.replace(request, signal)),
    ...(target.replaceAll && { replaceAll: withWords(target.replaceAll) }),
    ...(target.remove && { remove: withWordsFor(target.remove) }),
    ...(target.isServedLater && { isServedLater: true }),
    ...(target.takesBoth && { takesBoth: true }),
    current: async (spec, signal) => named(await target.current(spec, signal)),
    zones: async (signal) => named(await target.zones(signal)),
    records: async (zone, signal) => named(await target.records(zone, signal)),
    record: async (id, signal) => named(await target.record(id, signal)),
    close: () => target.close(),
  };
}

const commands = /`moor (zone list|record list|record show)\b/g;
