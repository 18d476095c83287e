import { type Address, ForgedDatagrams } from "./forged-datagrams.ts";

/**
 * Sends a batch of datagrams of 1,400 bytes to an address of this machine, as if they came from elsewhere:
 * `node forge.ts PORT TO FROM FROM-PORT COUNT`
 */
const [port, to = "", from = "", fromPort, count] = process.argv.slice(2);
const bytesOf = (text: string) => text.split(".").map(Number) as unknown as Address;
const forged = { bytes: Buffer.alloc(1_400, "f"), from: bytesOf(from), fromPort: Number(fromPort) };
new ForgedDatagrams(Number(port), bytesOf(to)).send(Array.from({ length: Number(count) }, () => forged));
