import type { WireInterface } from "../../contract/interfaces.ts";
import type { KernelRow } from "../kernel/row.ts";

/**
 * Linux knows a card's speed, not the name of the cable standard, so the text has Linux's words in the original's form.
 * Without a link the whole text is what is there, as in the original.
 */
export function reportMedia({ details, flags }: KernelRow): Pick<WireInterface, "media" | "media_raw"> {
  const { speed, duplex } = details ?? {};
  if (speed === undefined || !flags.includes("LOWER_UP")) return {};
  const media = `${speed}Mb/s${duplex === undefined ? "" : ` <${duplex}-duplex>`}`;
  return { media, media_raw: `Ethernet autoselect (${media})` };
}

/** FreeBSD's words for what Linux keeps as numbers; the loopback and others without IPv6 have none. */
export function reportNd6({ details, flags }: KernelRow): Pick<WireInterface, "nd6"> {
  const settings = details?.ipv6;
  if (settings === undefined) return {};
  const words = {
    performnud: !flags.includes("NOARP"),
    // A router takes announcements only when told to twice.
    accept_rtadv: settings.accept_ra === 2 || (settings.accept_ra === 1 && settings.forwarding === 0),
    ifdisabled: settings.disable_ipv6 === 1,
    auto_linklocal: settings.addr_gen_mode !== 1,
    no_dad: settings.accept_dad < 1 || flags.includes("NOARP") || flags.includes("LOOPBACK"),
  };
  return { nd6: { flags: Object.entries(words).flatMap(([word, holds]) => (holds ? [word] : [])) } };
}
