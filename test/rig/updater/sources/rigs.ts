import type { StartRig } from "../source-suite.ts";
import { startCommand } from "./command.ts";
import { startFirewall } from "./firewall.ts";

/** Every kind of source, with its peer for the shared suite and the hostile table. */
export const sourceRigs: Readonly<Record<string, StartRig>> = {
  firewall: startFirewall,
  command: startCommand,
};
