import { createSocket, type Socket } from "node:dgram";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { printable } from "../../../core/visible-text.ts";

/** A device that answered a search. `location`, the URL of its description, is always on the address that answered. */
export type SsdpAnswer = { readonly address: string; readonly location: URL; readonly server: string };

export type Search = {
  /** Also asked directly, because some networks do not forward multicast. */
  readonly also?: string | undefined;
  /** Milliseconds to wait for answers. */
  readonly wait: number;
  /** Ends the search early. */
  readonly isEnough?: (answer: SsdpAnswer) => boolean;
  /** For tests: where to search instead. */
  readonly places?: readonly SearchAddress[] | undefined;
};

type SearchAddress = { readonly from: string; readonly to: string; readonly port: number };

const group = "239.255.255.250";
const ssdpPort = 1900;
const mostNetworks = 16;
const mostAnswers = 100;

/** A gateway of version 2 must also answer for version 1, but not every one does. */
const wanted = [1, 2].map((version) => `urn:schemas-upnp-org:device:InternetGatewayDevice:${version}`);

/** All gateways that answer, without duplicate locations. Never throws: without a network there are no answers. */
export async function searchGateways(search: Search, signal: AbortSignal): Promise<readonly SsdpAnswer[]> {
  const answers = new Map<string, SsdpAnswer>();
  const enough = new AbortController();
  const over = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(search.wait)]);
  const hear = (message: Buffer, address: string) => {
    const answer = readAnswer(message, address);
    if (!answer || answers.size >= mostAnswers) return;
    answers.set(answer.location.href, answer);
    if (search.isEnough?.(answer)) enough.abort();
  };
  await Promise.all((search.places ?? placesOf(search)).map((place) => searchAt(place, search.wait, hear, over)));
  return [...answers.values()];
}

/** A multicast is sent on one network only, so each network gets its own. */
function placesOf({ also }: Search): readonly SearchAddress[] {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .slice(0, mostNetworks)
    .map(({ address }) => ({ from: address, to: group, port: ssdpPort }));
  return also === undefined ? own : [...own, { from: "0.0.0.0", to: also, port: ssdpPort }];
}

async function searchAt(
  { from, to, port }: SearchAddress,
  wait: number,
  hear: (message: Buffer, address: string) => void,
  over: AbortSignal,
): Promise<void> {
  const socket = createSocket("udp4");
  // The network may have gone down meanwhile; then there are no answers.
  socket.on("error", () => undefined);
  socket.on("message", (message, { address }) => hear(message, address));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind(0, from, resolve);
    });
    if (to === group) {
      socket.setMulticastInterface(from);
      socket.setMulticastTTL(2);
    }
    // Twice: UDP packets get lost.
    for (let round = 0; round < 2 && !over.aborted; round++) {
      for (const target of wanted) await send(socket, requestFor(target, `${to}:${port}`), to, port);
      await sleep(wait / 2, undefined, { signal: over }).catch(() => undefined);
    }
  } catch {
    // No answers from this place.
  } finally {
    socket.close();
  }
}

const send = (socket: Socket, message: string, to: string, port: number): Promise<void> =>
  new Promise((resolve) => socket.send(message, port, to, () => resolve()));

/** UPnP Device Architecture 1.1, 1.3.2. Devices wait up to `MX` seconds before they answer. */
const requestFor = (target: string, host: string) =>
  `M-SEARCH * HTTP/1.1\r\nHOST: ${host}\r\nMAN: "ssdp:discover"\r\nMX: 1\r\nST: ${target}\r\n\r\n`;

/** Undefined for a packet that is not an answer, and for a location on another machine than the one that answered. */
export function readAnswer(message: Buffer, address: string): SsdpAnswer | undefined {
  const [status = "", ...lines] = message.subarray(0, 4096).toString("latin1").split(/\r?\n/);
  if (!/^HTTP\/1\.[01] 200\b/.test(status)) return undefined;
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const target = headers.get("st") ?? "";
  const written = headers.get("location") ?? "";
  if (!wanted.includes(target) || !URL.canParse(written)) return undefined;
  const location = new URL(written);
  if (location.protocol !== "http:" || location.hostname !== address || location.username !== "") return undefined;
  return { address, location, server: printable(headers.get("server") ?? "") };
}
