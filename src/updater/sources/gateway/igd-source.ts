import { parseIpv4 } from "../../../core/addresses/address.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { reportConnection } from "../only-connection.ts";
import { type AddressSource, type SourceReading, unavailable } from "../source.ts";
import { defaultGateway } from "./default-gateway.ts";
import { checkWithin, followEvents } from "./events.ts";
import { type ExternalAddress, isOffline, readExternalAddress } from "./external-address.ts";
import { askNatPmp, type MappingAnswer } from "./nat-pmp.ts";
import { askPcp } from "./pcp.ts";
import { searchGateways } from "./ssdp.ts";
import { createUpnpDevice } from "./upnp.ts";

/** In the order in which they are tried. PCP is last, because it has to create a mapping to learn the address. */
const protocols = ["upnp", "nat-pmp", "pcp"] as const;
export type Protocol = (typeof protocols)[number];

export type IgdSource = {
  readonly url?: URL;
  readonly gateway?: string;
  readonly protocol?: Protocol;
  readonly eventPort?: number;
  readonly timeout: number;
};

type Connect = (endpoint: Endpoint) => Promise<HttpClient>;

/** `interval`: milliseconds within which a change has to be noticed, even if the router does not report it. */
export function createIgdSource(config: IgdSource, connect: Connect, interval?: number): AddressSource {
  const gatewayOf = () => config.url?.hostname ?? config.gateway ?? defaultGateway();
  const locate = async (signal: AbortSignal) => config.url ?? locateGateway(gatewayOf() ?? "", signal);
  const upnp = createUpnpDevice(locate, { timeout: config.timeout, connect });
  /** The one that worked last is tried first: a search that nobody answers takes seconds. */
  let last: Protocol | undefined;
  let isUpnpBroken = false;

  const ask = async (protocol: Protocol, gateway: string, signal: AbortSignal): Promise<ProtocolAnswer> => {
    if (protocol === "upnp") return answerOfUpnp(await readExternalAddress(upnp, signal));
    return answerOfMapping(protocol, await (protocol === "pcp" ? askPcp : askNatPmp)(gateway, signal));
  };

  const read = async (signal: AbortSignal): Promise<SourceReading> => {
    const gateway = gatewayOf();
    if (gateway === undefined) {
      return unavailable("this machine has no IPv4 router", "set `gateway:` to the address of the router");
    }
    const [refusals, failures]: [string[], string[]] = [[], []];
    for (const protocol of protocolsFor(config, last)) {
      const protocolAnswer = await ask(protocol, gateway, signal);
      if (signal.aborted) return unavailable("stopped before it finished", "no action needed: moor is shutting down");
      if (protocol === "upnp") isUpnpBroken = protocolAnswer.kind === "failed";
      if (protocolAnswer.kind === "known") {
        last = protocol;
        return protocolAnswer.reading;
      }
      if (protocolAnswer.kind === "refused") refusals.push(protocolAnswer.because);
      if (protocolAnswer.kind === "failed") failures.push(protocolAnswer.because);
    }
    last = undefined;
    const [failure] = failures;
    if (failure !== undefined) return unavailable(failure, turnOn);
    const [refusal] = refusals;
    if (refusal !== undefined) return unavailable(`the router ${gateway} refused to answer: ${refusal}`, turnOn);
    const tried = config.protocol ?? (isOnlyNamed(config.url) ? "UPnP" : "UPnP, NAT-PMP or PCP");
    return unavailable(`the router ${gateway} does not answer ${tried}`, turnOn);
  };

  return {
    read,
    async follow(hear, signal) {
      // Only UPnP has events: it may work again.
      if (isUpnpBroken) last = undefined;
      const first = await read(signal);
      const eventService = last === "upnp" ? upnp.events() : undefined;
      if (first.kind === "unavailable" || isUpnpBroken) return { kind: "ended" };
      if (!eventService) return { kind: "not-offered" };
      const onChange = async () => {
        const reading = await read(signal);
        if (!signal.aborted) hear(reading);
        return upnp.events()?.events.href === eventService.events.href;
      };
      return followEvents({ ...eventService, port: config.eventPort, onChange, times: checkWithin(interval) }, signal);
    },
    close: () => upnp.close(),
  };
}

const turnOn =
  "turn on UPnP or NAT-PMP on the router, or set `gateway:` if another router has the connection to the internet";

type ProtocolAnswer =
  | { readonly kind: "known"; readonly reading: SourceReading }
  | { readonly kind: "refused"; readonly because: string }
  /** Its answer was missing or unusable. Another protocol may work. */
  | { readonly kind: "failed"; readonly because: string }
  | { readonly kind: "silent" };

function protocolsFor({ url, protocol }: IgdSource, last: Protocol | undefined): readonly Protocol[] {
  if (protocol) return [protocol];
  if (isOnlyNamed(url)) return ["upnp"];
  return last ? [last, ...protocols.filter((each) => each !== last)] : protocols;
}

/** NAT-PMP and PCP need the address of the router. */
const isOnlyNamed = (url: URL | undefined): boolean => url !== undefined && !parseIpv4(url.hostname);

/** Only the gateway's own answer is used: anyone else on the network could invent an address. */
async function locateGateway(gateway: string, signal: AbortSignal): Promise<URL | undefined> {
  const isIt = ({ address }: { readonly address: string }) => address === gateway;
  const answers = await searchGateways({ also: gateway, wait: searchWait, isEnough: isIt }, signal);
  return answers.find(isIt)?.location;
}

/** Milliseconds. A gateway may take one second to answer. */
const searchWait = 2_000;

function answerOfUpnp(read: ExternalAddress): ProtocolAnswer {
  if (read.kind === "not-found") return { kind: "silent" };
  if (read.kind === "failed") return read;
  if (read.kind === "ambiguous") return { kind: "known", reading: unavailable(read.because, turnOn) };
  return { kind: "known", reading: readingOf(read.text) };
}

function answerOfMapping(protocol: Protocol, answer: MappingAnswer): ProtocolAnswer {
  if (answer.kind === "address") return { kind: "known", reading: readingOf(answer.text) };
  return answer.kind === "refused"
    ? { kind: "refused", because: `${answer.because} (${protocol})` }
    : { kind: "silent" };
}

/** A router that is offline sends an empty text or zeros. That does not mean that it has no address. */
function readingOf(text: string): SourceReading {
  if (isOffline(text)) {
    return unavailable("the router has no external address at the moment", "check its connection to the internet");
  }
  if (!parseIpv4(text)) {
    return unavailable(`the router reports "${printable(text)}" as its address`, "use another kind of source");
  }
  return { kind: "report", report: reportConnection([text], []) };
}
