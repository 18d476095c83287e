import { beforeAll, describe, expect, it, vi } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly responses?: Readonly<Record<string, { readonly description: string }>>;
  readonly security?: readonly object[];
};
type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
  readonly security: readonly object[];
  readonly components: { readonly securitySchemes: object; readonly schemas?: object };
};

const { call, send } = v1Service();

/** What OpenAPI linters require, and what makes the page at /docs useful. */
describe("the OpenAPI document, linted", () => {
  let document: Document;
  let operations: readonly (Operation & { readonly path: string; readonly at: string })[];
  beforeAll(async () => {
    document = (await call("GET", "/docs/json", { token: "" })).json as Document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, at: `${method} ${path}` })),
    );
  });
  const failing = (isGood: (operation: (typeof operations)[number]) => boolean) =>
    operations.filter((operation) => !isGood(operation)).map(({ at }) => at);

  it("has only types of its OpenAPI version", () => {
    expect(document.openapi).toMatch(/^3\.0\./);
    const types = new Set([...JSON.stringify(document).matchAll(/"type":("\w+"|\[)/g)].map(([, type]) => type));
    const known = ["array", "boolean", "integer", "number", "object", "string", "apiKey", "http"];
    expect([...types].filter((type) => !known.map((each) => `"${each}"`).includes(type ?? ""))).toEqual([]);
  });

  it("gives each operation a unique name", () => {
    expect(failing(({ operationId }) => /^[\w-]+$/.test(operationId ?? ""))).toEqual([]);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it("says what each operation is for, under tags that it describes", () => {
    const headings = new Set(document.tags.map(({ name }) => name));
    expect(failing(({ summary = "" }) => summary !== "")).toEqual([]);
    expect(failing(({ tags = [] }) => tags.length > 0 && tags.every((tag) => headings.has(tag)))).toEqual([]);
  });

  it("describes the answers to success and failure", () => {
    const statuses = ({ responses = {} }: Operation) => Object.keys(responses);
    for (const first of ["2", "4", "5"])
      expect(failing((each) => statuses(each).some((status) => status.startsWith(first)))).toEqual([]);
    const isSaid = ({ description }: { readonly description: string }) => /^(?!Default Response$).+/.test(description);
    expect(failing(({ responses = {} }) => Object.values(responses).every(isSaid))).toEqual([]);
  });

  it("describes exactly the parameters that are in a path, as required", () => {
    const inPath = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).sort();
    const described = ({ parameters = [] }: Operation) =>
      parameters.flatMap(({ name, in: where, required }) => (where === "path" && required ? [name] : [])).sort();
    expect(failing((each) => inPath(each.path).join() === described(each).join())).toEqual([]);
  });

  it("documents the idempotency key for the POSTs of the record-set API", () => {
    const posts = operations.filter(({ at }) => at.startsWith("post /v1/"));
    expect(posts.length).toBeGreaterThan(10);
    const headers = ({ parameters = [] }: Operation) => parameters.filter((each) => each.in === "header");
    expect(failing((each) => !posts.includes(each) || headers(each)[0]?.name === "idempotency-key")).toEqual([]);
  });

  it("says that actions are read by id only", () => {
    const parameters = document.paths["/v1/actions"]?.get?.parameters ?? [];
    expect(parameters.map(({ name, required }) => [name, required])).toEqual([["id", true]]);
  });

  it("requires tokens in ways that it describes, and has no dangling references", () => {
    const known = Object.keys(document.components.securitySchemes);
    const asked = ({ security = document.security }: Operation) => security.flatMap((each) => Object.keys(each));
    expect(failing((each) => asked(each).length > 0 && asked(each).every((name) => known.includes(name)))).toEqual([]);
    const schemas = Object.keys(document.components.schemas ?? {}).map((name) => `#/components/schemas/${name}`);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to]) => to);
    expect(references.filter((to) => to === undefined || !schemas.includes(to))).toEqual([]);
  });
});

it.for(["/docs/json", "/docs/yaml"])("%s has the same security headers as the other pages", async (path) => {
  const { status, headers } = await call("GET", path, { token: "" });
  expect([status, headers["content-security-policy"]]).toEqual([200, expect.stringMatching(/frame-ancestors 'none'/)]);
});

it.for(["/docs/json", "/docs/yaml"])("%s is compressed for clients that accept it", async (path) => {
  const { text } = await call("GET", path, { token: "" });
  const zipped = await send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n`, (got) =>
    got.includes("\r\n\r\n"),
  );
  expect(zipped).toMatch(/^content-encoding: gzip\r$/m);
  expect(Number(/^content-length: (\d+)\r$/m.exec(zipped)?.[1])).toBeLessThan(text.length / 5);
});

it("the document is printed once, not for each request", async () => {
  await call("GET", "/docs/json", { token: "" });
  const print = vi.spyOn(JSON, "stringify");
  const { text } = await call("GET", "/docs/json", { token: "" });
  const printed = print.mock.results.map(({ value }) => value as unknown);
  print.mockRestore();
  expect(printed.includes(text)).toBe(false);
});
