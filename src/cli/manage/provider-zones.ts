import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { importKinds, type ProviderKind, providerRow } from "../../contract/provider-kinds.ts";
import { parseServer } from "../../core/addresses/server-address.ts";
import { typesMadeBySigning } from "../../core/dnssec/generated-types.ts";
import { typeName } from "../../core/rdata/table.ts";
import type { PrintableSet } from "../../core/zone-file/print.ts";
import { parseKeyFile } from "../../lib/dns/tsig.ts";
import { openProvider, type ProviderConfig } from "../../providers/open-provider.ts";
import type { Provider, ProviderSet } from "../../providers/provider.ts";
import type { ZoneToImport } from "./import-zone.ts";

/** Where zones come from: an account of a provider, or a nameserver. */
export type FromOptions = {
  /** One of `importKinds`. */
  readonly from: string;
  readonly fromToken?: string;
  readonly fromUrl?: string;
  readonly fromCa?: string;
  readonly fromServer?: string;
  readonly fromKey?: string;
};

/** Why the command cannot begin. */
export class Unusable extends Error {}

export async function openFrom(options: FromOptions, cwd: string): Promise<Provider> {
  const read = async (file: string) => {
    try {
      return await readFile(resolve(cwd, file), "utf8");
    } catch (error) {
      throw new Unusable(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  };
  const kind = importKinds.get(options.from);
  if (kind === undefined) throw new Unusable(`zones cannot be imported from ${options.from}`);
  return await openProvider(
    kind === "dns-update" ? await serverOf(options, read) : await accountOf(kind, options, read),
  );
}

type ReadFile = (file: string) => Promise<string>;

async function serverOf({ fromServer = "", fromKey }: FromOptions, read: ReadFile): Promise<ProviderConfig> {
  const server = parseServer(fromServer);
  if (server === undefined)
    throw new Unusable("add --from-server with the nameserver, such as 192.0.2.53 or [2001:db8::53]:5353");
  const key = fromKey === undefined ? undefined : parseKeyFile(await read(fromKey));
  if (typeof key === "string")
    throw new Unusable(
      `${fromKey} has no key that moor can use; it needs key "name" { algorithm hmac-sha256; secret "…"; };`,
    );
  return { kind: "dns-update", ...server, key: () => key };
}

async function accountOf(
  kind: Exclude<ProviderKind, "dns-update">,
  { fromToken, fromUrl, fromCa }: FromOptions,
  read: ReadFile,
): Promise<ProviderConfig> {
  if (fromToken === undefined) throw new Unusable("add --from-token with the file that holds the token of the account");
  const token = (await read(fromToken)).trim();
  if (token === "" || /\s/.test(token)) throw new Unusable(`${fromToken} must hold one token, and nothing else`);
  const url = fromUrl ?? providerRow(kind).url;
  if (url === undefined || !URL.canParse(url)) throw new Unusable("add --from-url with the URL of the service");
  const trust = fromCa === undefined ? { kind: "system" as const } : { kind: "ca" as const, pem: await read(fromCa) };
  return { kind, token: () => token, url: new URL(url), trust };
}

/** The whole zone, or why it could not be read. */
export async function readZoneAt(
  provider: Provider,
  zone: { readonly name: string; readonly ttl?: number },
  signal: AbortSignal,
): Promise<ZoneToImport | string> {
  const content = await provider.sets(zone.name, signal);
  if (content.kind !== "found") return content.because;
  const { sets, unreadable } = content.value;
  const isMade = ({ type }: ProviderSet) => typesMadeBySigning.includes(type);
  return {
    name: zone.name,
    ttl: zone.ttl,
    sets: sets.filter((set) => !isMade(set)).map(printable),
    notes: [],
    left: [
      ...unreadable.map(({ name, type, because }) => `${name} ${type}: ${because}`),
      ...(sets.some(isMade) ? [signedText([...new Set(sets.filter(isMade).map(({ type }) => typeName(type)))])] : []),
    ],
  };
}

const signedText = (types: readonly string[]): string =>
  `${types.join(", ")}: made by signing; docs/dnssec.md says how a signed zone moves without being unsigned`;

const printable = ({ owner, type, ttl, values }: ProviderSet): PrintableSet => ({
  owner,
  type,
  ttl,
  records: values.map((rdata) => ({ rdata, comment: "" })),
});
