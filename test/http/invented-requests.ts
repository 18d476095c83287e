import { pick, type Random } from "../rig/random.ts";

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

type Schema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
};

/** The part of an OpenAPI document that is needed to call what it describes. */
export type Description = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** Parts of paths and queries, as they are written in a URL. */
export const oddParts = [
  ...["", ".", "..", "%2e%2e", "%2f", "%5c", "%00", "%ff", "%E0%A4%A", "%0d%0a", "%20", "*", "@", "'", "%22", ";"],
  ...["__proto__", "constructor", "toString", "null", "true", "[]", "NaN", "1e999", "-1", "0", "1.5", "9".repeat(30)],
  ...["a".repeat(400), "a".repeat(5_000), "a.".repeat(130), "a..b", "xn--", "%C3%9F.example", "%F0%9F%99%82"],
  ...[
    "created:desc",
    "name:asc,,",
    "a=b,!c,(",
    "k%20in%20(a",
    "2026-01-01",
    "A",
    "TXT",
    "1",
    "home",
    "hostile.example",
  ],
];

const oddValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e300, 2 ** 53, 2 ** 32, "", " ", "\n", "\0", "\ud800", "💡", "a".repeat(70_000)],
  ...[[], {}, [[]], [null], [{}], [{ value: 5 }], Array.from({ length: 300 }, () => ({ value: "192.0.2.1" }))],
  ...["192.0.2.1", "::1", "fe80::1%eth0", "2147483648", "@", "*", "a..b", "xn--a", "__proto__", "hostile.example"],
  ...['"', '"a" "b', "\\", "\\# 4 01020304", '0 issue "x"', "10 mail.example.org.", "1 2 3 4 5 6 7 8 9", "A", "SOA"],
  ...["DNAME", "TYPE65534", "$INCLUDE /etc/passwd", "@ IN A 192.0.2.1\n", "$GENERATE 1-9 a$ A 192.0.2.1"],
];

const brokenBodies = ["", "{", '{"a":', "null", "[]", "1", '"a"', "\0", "[".repeat(20_000), '{"a":'.repeat(5_000)];
const types = ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x", ";"];

/** Requests for everything that a service documents, with values of the right kind and of all others. */
export function createRequests(random: Random, { paths }: Description, ids: readonly string[]): () => Request {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const chance = (percent: number) => random(100) < percent;
  const part = () => (chance(40) ? pick(random, oddParts) : pick(random, ids));
  const bodyFor = (schema: Schema | undefined) =>
    chance(8) ? pick(random, brokenBodies) : JSON.stringify(invented(random, schema, 0));

  return () => {
    const { path, method, operation } = pick(random, operations);
    const asked = (operation.parameters ?? []).filter((each) => each.in === "query" && chance(50));
    const query = asked.map(({ name }) => `${name}=${part()}`).join("&");
    const place = path.replaceAll(/\{[^}]+\}/g, part);
    const request = { method, path: query === "" ? place : `${place}?${query}`, headers: {} };
    if (method === "GET" || method === "HEAD") return request;
    const [content] = Object.values(operation.requestBody?.content ?? {});
    const type = chance(80) ? "application/json" : pick(random, types);
    return { ...request, headers: { "content-type": type }, body: bodyFor(content?.schema) };
  };
}

function invented(random: Random, schema: Schema | undefined, depth: number): unknown {
  if (schema === undefined || depth > 6 || random(100) < 12) return pick(random, oddValues);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return invented(random, pick(random, options), depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(random, schema.enum);
  switch (typeof schema.type === "string" ? schema.type : pick(random, schema.type ?? ["string"])) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(() => random(100) < 80)
          .map(([key, inner]) => [key, invented(random, inner, depth + 1)]),
      );
    case "array":
      return Array.from({ length: random(3) }, () => invented(random, schema.items, depth + 1));
    case "integer":
    case "number":
      return pick(random, [0, 60, 3_600]);
    case "boolean":
      return random(2) === 0;
    default:
      return pick(random, ["home", "hostile.example", "A", "TXT", "192.0.2.1", '"x"']);
  }
}
