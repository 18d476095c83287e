import { readFileSync } from "node:fs";
import { endianness } from "node:os";

/** The IPv4 address of this machine's default gateway; undefined if it has none, or the kernel has no such table. */
export function defaultGateway(read = () => readFileSync("/proc/net/route", "latin1")): string | undefined {
  let table: string;
  try {
    table = read();
  } catch {
    return undefined;
  }
  const routes = table.split("\n").flatMap((line) => {
    const [, destination, gateway = "", flags = "", , , metric = "", mask] = line.split("\t");
    const isUsed = (Number.parseInt(flags, 16) & upWithGateway) === upWithGateway;
    const isDefault = destination === "00000000" && mask === "00000000" && isUsed;
    return isDefault ? [{ gateway, metric: Number(metric) }] : [];
  });
  const [best] = routes.toSorted((a, b) => a.metric - b.metric);
  return best && addressOf(best.gateway);
}

/** RTF_UP and RTF_GATEWAY. */
const upWithGateway = 0x3;

/** The kernel prints the four bytes as one number in this machine's byte order. */
const addressOf = (hex: string): string => {
  const bytes = Buffer.from(hex, "hex");
  return [...(endianness() === "LE" ? bytes.toReversed() : bytes)].join(".");
};
