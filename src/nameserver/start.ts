import { randomInt } from "node:crypto";
import type { ListenAddress } from "../process/listen-address.ts";
import type { Logger } from "../process/log.ts";
import { createCatchUp } from "./catch-up.ts";
import { listenTcp } from "./listen-tcp.ts";
import { type Listening, listenUdp } from "./listen-udp.ts";
import { createLoadedZones, defaultLoadLimits } from "./loaded-zones.ts";
import { createRateLimit, defaultRateLimit } from "./rate-limit.ts";
import { createResponder, type RespondTo } from "./respond.ts";
import { createExchange, type TransferPorts } from "./transfer-respond.ts";
import type { ZoneSource } from "./zone-source.ts";

export type NameserverOptions = {
  /** Each over UDP and TCP. Port 0 takes a free one, the same for both. */
  readonly listen: readonly ListenAddress[];
  readonly source: ZoneSource;
  readonly log: Logger;
  /** Without them only plain questions are answered. */
  readonly transfers?: TransferPorts;
  /** Replies a second to one network. */
  readonly repliesPerSecond?: number;
};

export type Nameserver = { readonly addresses: readonly ListenAddress[]; readonly close: () => Promise<void> };

/** Listens everywhere or nowhere; the error says where it could not and what to do. */
export async function startNameserver(options: NameserverOptions): Promise<Nameserver> {
  const { listen, source, log } = options;
  const zones = createLoadedZones(source, { ...defaultLoadLimits, seed: randomInt(2 ** 32) });
  const onTrouble = tellSometimes(log);
  const learn = () => zones.learn().catch(onTrouble);
  let coming = 0;
  const catchUp = createCatchUp({ latest: () => coming, start: 0, limit: defaultLoadLimits.wait });
  const unfollow = source.follow((event) => {
    if (event.kind === "coming") coming = event.number;
    if (event.kind === "told") catchUp.told(event.number);
    zones.apply(event);
    if (event.kind === "lost") void learn();
  });
  void learn();
  const answer = createResponder({ zones, onTrouble });
  const { transfers: ports } = options;
  const { respond, stream }: Exchange = ports
    ? createExchange({ respond: answer, zones, ports, now: Date.now, onTrouble })
    : { respond: answer };
  const respondInTime: RespondTo = (query, transport, from) =>
    catchUp.wait()?.then(() => respond(query, transport, from)) ?? respond(query, transport, from);
  const exchange = { respond: respondInTime, stream };
  const perSecond = options.repliesPerSecond ?? defaultRateLimit.perSecond;
  const rateLimit = createRateLimit({ ...defaultRateLimit, perSecond, seed: randomInt(2 ** 32) });
  const opened: Listening[] = [];
  const close = async () => {
    unfollow();
    for (const each of opened.toReversed()) await each.close();
  };
  try {
    for (const at of listen) opened.push(...(await listenBoth(at, exchange, { rateLimit, log })));
  } catch (error) {
    await close();
    throw error;
  }
  const addresses = opened.filter((_, i) => i % 2 === 0).map((each) => each.address);
  return { addresses, close };
}

type Exchange = Pick<Parameters<typeof listenTcp>[1], "respond" | "stream">;
type UdpNeeds = Omit<Parameters<typeof listenUdp>[1], "respond">;

/** A port that is free for one protocol may be taken for the other: a free one is then tried again. */
async function listenBoth(at: ListenAddress, exchange: Exchange, options: UdpNeeds): Promise<readonly Listening[]> {
  for (let left = 10; ; left--) {
    const tcp = await listenTcp(at, { ...exchange, log: options.log });
    try {
      return [tcp, await listenUdp({ ...at, port: tcp.address.port }, { respond: exchange.respond, ...options })];
    } catch (error) {
      await tcp.close();
      if (at.port !== 0 || left === 0) throw error;
    }
  }
}

/** A source that is down fails every query: it is told at once, and then at most every ten seconds. */
function tellSometimes(log: Logger): (error: unknown) => void {
  let next = 0;
  return (error) => {
    const now = Date.now();
    if (now < next) return;
    next = now + 10_000;
    log.error({ err: error }, "a zone could not be loaded; its queries are answered with SERVFAIL");
  };
}
