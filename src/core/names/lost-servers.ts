import type { Fault } from "../result.ts";

/**
 * Servers that answer for the zone and are in its NS set cannot be removed by an import: that is most likely an
 * oversight. All names are absolute, with a trailing dot.
 */
export function lostServers(
  had: readonly string[],
  has: readonly string[],
  nameservers: readonly string[],
): readonly Fault[] {
  return nameservers
    .filter((server) => had.includes(server) && !has.includes(server))
    .map((server) => ({
      code: "nameserver-missing",
      where: "zonefile",
      message: `the file does not list the nameserver ${server}`,
      todo: `add the line: @ IN NS ${server}`,
    }));
}
