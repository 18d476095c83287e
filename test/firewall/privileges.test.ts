import { finished } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewApiKey } from "../../src/firewall/access/keys.ts";
import {
  type EndpointName,
  endpointNames,
  mayCall,
  type Privilege,
  privileges,
} from "../../src/firewall/access/privileges.ts";
import { isLongRun } from "../rig/long-run.ts";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig;
const keyKinds = [...privileges, "nothing"] as const;
const keys = new Map<(typeof keyKinds)[number], NewApiKey>();

beforeAll(async () => {
  // What the kernel says is of no interest here, and each question to it is a process.
  const eth0 = { ifname: "eth0", flags: ["UP"], addr_info: [] };
  rig = await openRig({ read: async () => [eth0], readRoutes: async () => [] });
  for (const privilege of privileges) keys.set(privilege, rig.key(`has-${privilege}`, [privilege]));
  keys.set("nothing", rig.key("has-nothing", []));
});
afterAll(() => rig.close());

const camel = (snake: string) => snake.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The endpoint in every spelling that OPNsense accepts. */
function spellings(name: EndpointName): readonly string[] {
  const [module = "", controller = "", action = ""] = name.split("/");
  const parameter = { "auth/user/add_api_key": "/nobody", "auth/user/del_api_key": "/bm9uZQ==" }[
    name as "auth/user/add_api_key"
  ];
  const rest = parameter ?? "";
  const path = (m: string, c: string, a: string) => `/api/${m}/${c}/${a}${rest}`;
  return [
    path(module, controller, action),
    path(module, controller, camel(action)),
    path(module, controller, action.replaceAll("_", "")),
    path(module, controller, action.toUpperCase()),
    path(module.toUpperCase(), controller, action),
    path(module, controller.charAt(0).toUpperCase() + controller.slice(1), action),
    `${path(module, controller, action)}/`,
    `/api//${module}//${controller}/${action}${rest}`,
    `${path(module, controller, action)}?x=1&y=/../`,
    `${path(module, controller, action)}/extra/segments`,
  ];
}

/**
 * The key with the privilege of an endpoint tries all spellings of it. Of the others, each tries one, so that together
 * they try all; in a long run each tries all.
 */
const spellingsFor = (endpoint: EndpointName, isItsOwn: boolean, key: number): readonly string[] =>
  spellings(endpoint).filter((_, at) => isLongRun || isItsOwn || at === key % 10);

describe.each(endpointNames)("%s", (endpoint) => {
  it("with each key: 200 if it has the privilege, otherwise 403", async () => {
    const json = "application/json; charset=UTF-8";
    const type = {
      "interfaces/overview/export": "text/html; charset=UTF-8",
      "diagnostics/interface/events": "text/event-stream",
    };
    for (const [number, privilege] of keyKinds.entries()) {
      const key = keys.get(privilege);
      if (key === undefined) throw new Error("no such key");
      const allowed = mayCall(privilege === "nothing" ? [] : [privilege], endpoint);
      const paths = spellingsFor(endpoint, allowed && privilege !== "all", number);
      const answers = await Promise.all(
        paths.map(async (path) => {
          const response = await rig.open(path, { key });
          const { statusCode, headers } = response;
          // A stream does not end; the others reuse their connection, which saves 2,500 TLS handshakes.
          if (headers["content-type"] === "text/event-stream") response.destroy();
          else await finished(response.resume());
          return [privilege, path, statusCode, headers["content-type"]];
        }),
      );
      const expected = allowed ? [200, (type as Record<string, string>)[endpoint] ?? json] : [403, json];
      expect(answers).toEqual(paths.map((path) => [privilege, path, ...expected]));
    }
  });

  it("without a key: 401, and with a wrong one 401 later, in every spelling", async () => {
    const all = await Promise.all(spellings(endpoint).map((path) => rig.ask(path)));
    for (const got of all) {
      expect(got).toMatchObject({ status: 401, body: '{"status":401,"message":"Authentication Failed"}' });
      expect(got.headers["www-authenticate"]).toBe('Basic realm="moor"');
    }
  });
});

describe("the privilege that each call needs", () => {
  it.each<[EndpointName, Privilege]>([
    ["diagnostics/interface/get_interface_config", "interface-status"],
    ["diagnostics/interface/events", "interface-status"],
    ["diagnostics/interface/get_interface_names", "interface-names"],
    ["diagnostics/interface/get_interface_statistics", "interface-statistics"],
    ["diagnostics/networkinsight/get_interfaces", "interface-names"],
    ["diagnostics/activity/get_activity", "activity"],
    ["diagnostics/interface/get_arp", "arp-table"],
    ["diagnostics/interface/search_arp", "arp-table"],
    ["diagnostics/interface/get_routes", "routing-tables"],
    ["routing/settings/search_gateway", "gateways"],
    ["diagnostics/traffic/interface", "traffic"],
    ["interfaces/overview/export", "overview"],
    ["interfaces/overview/get_interface", "overview"],
    ["interfaces/overview/interfaces_info", "overview"],
    ["routes/gateway/status", "gateways"],
    ["core/firmware/info", "firmware"],
    ["core/firmware/status", "firmware"],
    ["core/system/status", "dashboard"],
    ["diagnostics/system/system_information", "dashboard"],
    ["auth/user/add_api_key", "all"],
    ["auth/user/search_api_key", "all"],
    ["auth/user/del_api_key", "all"],
    ["auth/priv/search", "all"],
  ])("%s is allowed by %s and by all, and by nothing else", (endpoint, only) => {
    expect(privileges.filter((privilege) => mayCall([privilege], endpoint))).toEqual([...new Set(["all", only])]);
  });
});
