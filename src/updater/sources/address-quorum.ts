import { type Family, families, parseAddress } from "../../core/addresses/address.ts";
import { scopeOf } from "../../core/addresses/scope.ts";
import { firstFew } from "../../core/first-few.ts";
import { printable } from "../../core/visible-text.ts";
import { reportConnection } from "./only-connection.ts";
import { type SourceReading, unavailable, type WhyUnknown } from "./source.ts";

/** A server on the internet that sees the address of this machine. */
export type EchoService = { readonly name: string; ask(signal: AbortSignal): Promise<EchoAnswer> };

export type EchoAnswer =
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "failed"; readonly because: string };

/** A host that is listed twice. Its ports are one service, except on this machine: there, each may lead elsewhere. */
export function listedTwice(servers: readonly { readonly host: string; readonly port: string }[]): string | undefined {
  const places = servers.map(({ host, port }) => {
    const address = parseAddress(host);
    return address && scopeOf(address) === "loopback" ? `${host} ${port}` : (address?.text ?? host);
  });
  return servers.find((_, at) => places.indexOf(places[at] ?? "") !== at)?.host;
}

export const twiceFault = (host: string) => ({
  code: "same-service",
  message: `${host} is listed twice, so it would agree with itself`,
  todo: "list each service once",
});

export type QuorumOptions = {
  /** For each family, the services that can see it. */
  readonly services: Readonly<Record<Family, readonly EchoService[]>>;
  /** How many must report the same address: a single one may lie or be wrong. */
  readonly agree: number;
  readonly wanted: readonly Family[];
  /** What to do if they do not agree. */
  readonly todo: string;
};

/**
 * Asks only as many services as must agree, starting with a different one each time, and the others only if these do
 * not agree. The families are asked separately.
 */
export function createQuorumReader({
  services,
  agree,
  wanted,
  todo,
}: QuorumOptions): (signal: AbortSignal) => Promise<SourceReading> {
  let reads = 0;
  const askFamily = async (family: Family, first: number, signal: AbortSignal): Promise<string | WhyUnknown> => {
    const all = services[family];
    const rotated = all.map((_, at) => all[(first + at) % all.length]).filter((each) => each !== undefined);
    const answers: NamedAnswer[] = [];
    for (const some of [rotated.slice(0, agree), rotated.slice(agree)]) {
      answers.push(...(await Promise.all(some.map((service) => askService(service, family, signal)))));
      const agreed = agreedBy(answers, agree);
      if (agreed !== undefined) return agreed;
    }
    return { because: disagreement(answers, family, agree), todo };
  };
  return async (signal) => {
    const first = reads;
    reads += 1;
    const answers = await Promise.all(
      wanted.map(async (family) => [family, await askFamily(family, first, signal)] as const),
    );
    const agreed = answers.flatMap(([family, result]) =>
      typeof result === "string" ? [[family, result] as const] : [],
    );
    const unknown = answers.flatMap(([family, result]) =>
      typeof result === "string" ? [] : [[family, result] as const],
    );
    if (agreed.length === 0) return unavailable(unknown.map(([, { because }]) => because).join("; "), todo);
    const of = (wantedFamily: Family) => agreed.flatMap(([family, text]) => (family === wantedFamily ? [text] : []));
    return {
      kind: "report",
      report: reportConnection(of("ipv4"), of("ipv6")),
      unknown: { ...unaskedOf(wanted), ...Object.fromEntries(unknown) },
    };
  };
}

const unaskedOf = (wanted: readonly Family[]) => {
  const why = {
    because: "no name in the config uses this address family, so nothing was asked",
    todo: "add a name that uses it",
  };
  return Object.fromEntries(families.filter((family) => !wanted.includes(family)).map((family) => [family, why]));
};

type NamedAnswer = EchoAnswer & { readonly name: string };

/** An answer that is not an address of this family does not count. */
async function askService(service: EchoService, family: Family, signal: AbortSignal): Promise<NamedAnswer> {
  const { name } = service;
  const answer = await service.ask(signal);
  if (answer.kind === "failed") return { name, ...answer };
  const address = parseAddress(answer.text);
  if (address?.family === family) return { name, kind: "answered", text: address.text };
  const what = `"${printable(answer.text).slice(0, longestQuoted)}", which is not an ${wordOf[family]} address`;
  return { name, kind: "failed", because: `answered ${what}` };
}

const longestQuoted = 50;
const wordOf: Readonly<Record<Family, string>> = { ipv4: "IPv4", ipv6: "IPv6" };

/** Undefined also if two different addresses have enough services. */
function agreedBy(answers: readonly NamedAnswer[], agree: number): string | undefined {
  const votes = Map.groupBy(answers, (each) => (each.kind === "answered" ? each.text : undefined));
  const enough = [...votes].filter(([text, those]) => text !== undefined && those.length >= agree);
  return enough.length === 1 ? enough[0]?.[0] : undefined;
}

function disagreement(answers: readonly NamedAnswer[], family: Family, agree: number): string {
  if (answers.length < agree)
    return `fewer than ${agree} servers that can report an ${wordOf[family]} address are listed`;
  const words = answers.map((each) => `${each.name} ${each.kind === "answered" ? `said ${each.text}` : each.because}`);
  return `${agree} of ${answers.length} must agree on one ${wordOf[family]} address: ${firstFew(words).slice(0, 600)}`;
}
