import { openNameserver } from "../nameserver-peer.ts";
import type { Asked, Reply } from "../services.ts";
import { printLine, readLine } from "../set-lines.ts";
import type { TargetPeer } from "../target-faults.ts";

const answer = (more: string): string =>
  `<?xml version="1.0" encoding="utf-16"?><interface-response><Command>SETDNSHOST</Command><Language>eng</Language>${more}<Done>true</Done><debug><![CDATA[]]></debug></interface-response>`;

export const namecheapError = (message: string): string =>
  answer(`<ErrCount>1</ErrCount><errors><Err1>${message}</Err1></errors><ResponseCount>1</ResponseCount>`);

/** Namecheap's Dynamic DNS, with moor's nameserver behind it. */
export async function openNamecheap(password: string): Promise<TargetPeer> {
  const dns = await openNameserver((port) => `token: { file: secret }, dns: ["127.0.0.1:${port}"]`);
  const reply = async ({ path }: Asked): Promise<Reply> => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (pathname !== "/update") return { status: 404, body: "<html>not here</html>" };
    const [host, ip] = [query.get("host"), query.get("ip") ?? ""];
    if (query.get("domain") !== "example.org") return { body: namecheapError("Domain name not found") };
    if (query.get("password") !== password) return { body: namecheapError("Passwords do not match") };
    const lines = (await dns.held()).map(readLine);
    const isIt = ({ name, type }: { name: string; type: string }) => name === host && type === "A";
    if (!lines.some(isIt)) return { body: namecheapError("No Records updated. A record not Found;") };
    const changed = lines.map((line) => printLine(isIt(line) ? { ...line, value: ip } : line));
    await dns.fill([...new Set(changed)]);
    return {
      body: answer(`<IP>${ip}</IP><ErrCount>0</ErrCount><errors /><ResponseCount>0</ResponseCount><responses />`),
    };
  };
  return { ...dns, reply };
}
