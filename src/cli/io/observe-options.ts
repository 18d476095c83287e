import { type Command, InvalidArgumentError, Option } from "commander";
import type { Network } from "../../core/addresses/network.ts";
import { type ProxyHeader, proxyHeaders, type TrustedProxies } from "../../lib/http/client-address.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";
import { readListen, readNetworks } from "./options.ts";

/** Monitoring of `moor records`, and the proxies in front of it. */
export type ObserveFlags = {
  readonly metrics?: ListenAddress;
  readonly accessLog?: boolean;
  readonly trustProxy: readonly Network[];
  readonly proxyHeader: ProxyHeader;
  /** Seconds. */
  readonly drain: number;
};

export function observeOptions(command: Command): Command {
  return command
    .option(
      "--metrics <host:port>",
      "also serve /metrics and /health on this address, without authentication: keep it private",
      readListen,
    )
    .option("--access-log", "log every request")
    .option(
      "--trust-proxy <network>",
      "trust the client address that this proxy sends (may be repeated)",
      readNetworks,
      [],
    )
    .addOption(
      new Option("--proxy-header <name>", "the header in which trusted proxies send the client address")
        .choices(proxyHeaders)
        .default(proxyHeaders[0]),
    )
    .option("--drain <seconds>", "on shutdown, report not ready for this long before closing", readSeconds, 0);
}

export const proxiesOf = ({ trustProxy, proxyHeader }: ObserveFlags): TrustedProxies | undefined =>
  trustProxy.length === 0 ? undefined : { networks: trustProxy, header: proxyHeader };

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= 300)) throw new InvalidArgumentError("It must be a number of seconds, 0 to 300.");
  return seconds;
}
