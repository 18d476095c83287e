import type { InterfaceReport, ReportedInterface, ReportedIpv6 } from "../../core/addresses/interface-report.ts";
import { printable } from "../../core/visible-text.ts";
import { bestFirst, isLinkLocal, isUnproven } from "../../lib/kernel/best-first.ts";
import { coalesceTriggers } from "../../lib/kernel/coalesce-triggers.ts";
import { readKernel } from "../../lib/kernel/read.ts";
import { isMarked, type KernelAddress, type KernelRow } from "../../lib/kernel/row.ts";
import { watchKernel } from "../../lib/kernel/watch.ts";
import { mapping } from "../../lib/settings/mapping.ts";
import { noLog } from "../../process/log.ts";
import { showable } from "./showable.ts";
import { type SourceKind, type SourceReading, unavailable } from "./source.ts";

/** The interfaces of the machine that the updater runs on. */
export const ownInterfaces = {
  ...mapping(
    {},
    {
      title: "Source: interface",
      description: "The interfaces of this machine, as its kernel reports them. No service is needed.",
      schema: { examples: [{ kind: "interface" }] },
    },
  ),
  can: { push: true, prefix: true, lifetimes: true },
  open: async () => ({
    read: readInterfaces,
    async follow(onReading, signal) {
      const pushReading = async () => {
        const reading = await readInterfaces(signal);
        if (!signal.aborted) onReading(reading);
      };
      const onChange = coalesceTriggers(pushReading, { spacing, signal, now: () => performance.now() });
      onChange();
      await watchKernel({ onChange, signal, log: noLog });
      return { kind: "ended" };
    },
    close: () => undefined,
  }),
} satisfies SourceKind<object>;

/** Milliseconds between two readings in a burst of changes. */
const spacing = 25;

async function readInterfaces(signal: AbortSignal): Promise<SourceReading> {
  try {
    return { kind: "report", report: reportKernel(await readKernel({ signal })) };
  } catch (error) {
    const because = `the interfaces of this machine cannot be read: ${printable((error as Error).message)}`;
    return unavailable(because, "run `ip addr` as the user of moor to see why");
  }
}

/** In the order of the kernel's index. */
export function reportKernel(rows: readonly KernelRow[]): InterfaceReport {
  const inOrder = rows.toSorted((a, b) => (a.ifindex ?? 0) - (b.ifindex ?? 0));
  return new Map(inOrder.map((row) => [showable(row.ifname), reportDevice(row)]));
}

function reportDevice({ ifname, flags, link_type, addr_info }: KernelRow): ReportedInterface {
  const hasLink = link_type !== "ether" || flags.includes("LOWER_UP");
  const addressesOf = (family: string) => bestFirst(addr_info.filter((address) => address.family === family));
  return {
    device: showable(ifname),
    up: flags.includes("UP") && hasLink,
    ipv4: addressesOf("inet").map(({ local }) => ({ text: local })),
    ipv6: addressesOf("inet6").map(reportIpv6),
  };
}

/** The kernel's value for an infinite lifetime. */
const forever = 0xffffffff;

function reportIpv6(address: KernelAddress): ReportedIpv6 {
  const { local: text, prefixlen, valid_life_time: seconds } = address;
  return {
    text,
    linkLocal: isLinkLocal(text),
    deprecated: isMarked(address.deprecated),
    tentative: isUnproven(address),
    // Linux has no such state: it removes the prefix of a router that is gone.
    detached: false,
    temporary: isMarked(address.temporary),
    ...(seconds !== undefined && { validLifetime: seconds === forever ? Number.POSITIVE_INFINITY : seconds }),
    prefixLength: prefixlen,
  };
}
