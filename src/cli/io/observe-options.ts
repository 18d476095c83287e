import { type Command, InvalidArgumentError, Option } from "commander";
import type { Network } from "../../core/addresses/network.ts";
import { type ProxyHeader, proxyHeaders, type TrustedProxies } from "../../process/http/client-address.ts";
import type { ListenAddress } from "../../process/listen-address.ts";
import { readListen, readNetworks } from "./options.ts";

/** How `moor records` is watched, and who stands in front of it. */
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
      "also serve /metrics and /health there, without a secret: keep it private",
      readListen,
    )
    .option("--access-log", "a log line for every request")
    .option("--trust-proxy <network>", "a proxy whose word about callers counts (may be repeated)", readNetworks, [])
    .addOption(
      new Option("--proxy-header <name>", "the header in which trusted proxies name the caller")
        .choices(proxyHeaders)
        .default(proxyHeaders[0]),
    )
    .option("--drain <seconds>", "when stopped, be not ready for so long before closing", readSeconds, 0);
}

export const proxiesOf = ({ trustProxy, proxyHeader }: ObserveFlags): TrustedProxies | undefined =>
  trustProxy.length === 0 ? undefined : { networks: trustProxy, header: proxyHeader };

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= 300)) throw new InvalidArgumentError("It takes seconds, 0 to 300.");
  return seconds;
}
