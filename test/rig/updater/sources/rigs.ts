import type { StartRig } from "../source-suite.ts";
import { startCommand } from "./command.ts";
import { startDns } from "./dns.ts";
import { startFirewall } from "./firewall.ts";
import { startFritzbox } from "./fritzbox.ts";
import { startIgd } from "./igd.ts";
import { startFakeKernel, startInterface } from "./interface.ts";
import { startMikrotik } from "./mikrotik.ts";
import { startOpenwrt } from "./openwrt.ts";
import { startPfsense } from "./pfsense.ts";
import { startWeb } from "./web.ts";

/** Every kind of source, with its peer for the shared suite and the hostile table. */
export const sourceRigs: Readonly<Record<string, StartRig>> = {
  firewall: startFirewall,
  interface: startInterface,
  web: startWeb,
  dns: startDns,
  command: startCommand,
  igd: startIgd,
  fritzbox: startFritzbox,
  openwrt: startOpenwrt,
  mikrotik: startMikrotik,
  pfsense: startPfsense,
};

/** Like `sourceRigs`, with peers that can report what real ones never would. */
export const lyingRigs: typeof sourceRigs = { ...sourceRigs, interface: startFakeKernel };
