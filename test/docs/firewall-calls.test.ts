import { describe, expect, it } from "vitest";
import { type EndpointName, endpointNames, endpoints } from "../../src/firewall/access/privileges.ts";
import { resolveEndpoint } from "../../src/firewall/access/resolve-endpoint.ts";
import { pages } from "./pages.ts";

/**
 * The table of calls in docs/firewall.md: each path with the privilege of its row. `…/x` is in the folder of the path
 * before it.
 */
const [, table = ""] = pages.find(({ path }) => path === "docs/firewall.md")?.prose.split("\n## Calls\n") ?? [];
const calls = [...table.matchAll(/^\| (`.*?`) \| .* \| `([a-z-]+)` \|$/gm)].flatMap(([, cell = "", privilege = ""]) => {
  let folder = "";
  return [...cell.matchAll(/`(?:(?:GET|POST) )?([^`]+)`/g)].map(([, written = ""]) => {
    const path = written.replace("…", folder).replace(/\[.*\]/, "");
    folder = path.replace(/\/[^/]*(?:\/\{.*\})?$/, "");
    return { path: path.replace(/\{.*\}/, "x"), privilege };
  });
});

const nameOf = (path: string): EndpointName | undefined => {
  const target = resolveEndpoint(path);
  return target.kind === "endpoint" ? target.name : undefined;
};

describe("calls of the firewall service in the docs", () => {
  it.each(calls)("$path needs $privilege", ({ path, privilege }) => {
    const name = nameOf(path);
    expect(name && endpoints[name]).toBe(privilege);
  });

  it("are all that it answers", () => {
    const named = new Set(calls.map(({ path }) => nameOf(path)));
    expect(endpointNames.filter((name) => !named.has(name))).toEqual([]);
  });
});
