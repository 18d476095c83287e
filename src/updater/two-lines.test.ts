import { afterEach, beforeEach, expect, it, test } from "vitest";
import { type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Reply, wanWith } from "../../test/rig/updater/services.ts";

/** An OPNsense with two lines in one subnet, behind modems of one model: also their gateways have the same address. */

const names = `  - { name: home, zone: example.org, ipv4: [igb0, igb1] }
  - { name: one, zone: example.org, ipv4: igb0 }`;

type Call = "status" | "rows";
let loop: Loop;
let gateways: Record<Call, Reply>;

const interfaces = { igb0: wanWith(["81.2.69.10"], []), igb1: wanWith(["81.2.69.20"], []) };
/** The state of each gateway: `none` is OPNsense's word for one that answers. */
const stateOf = (first: string, second: string) => {
  const states = { WAN_GW: first, WAN2_GW: second };
  const devices = { WAN_GW: "igb0", WAN2_GW: "igb1" };
  const address = "81.2.69.1";
  const items = Object.entries(states).map(([name, status]) => ({ name, address, status, loss: "~", delay: "~" }));
  const rows = Object.entries(devices).map(([name, device]) => {
    const state = states[name as keyof typeof states];
    const label_class = `fa fa-plug ${state.includes("down") ? "text-danger" : "text-success"}`;
    return { name, if: device, interface: "wan", ipprotocol: "inet", gateway: address, label_class, status: "Online" };
  });
  gateways = { status: { body: { items, status: "ok" } }, rows: { body: { total: 2, rowCount: 2, current: 1, rows } } };
};
const missing = { status: 404, body: { errorMessage: "Endpoint not found" } };

async function openLines(): Promise<void> {
  loop = await openLoop(names, () => 0, { source: "gateways: true" });
  loop.records.push({ id: "one", type: "A", name: "one", value: "192.0.2.1", zone_id: "z1" });
  loop.says.firewall = ({ path }) => {
    if (path === "/api/routes/gateway/status") return gateways.status;
    if (path === "/api/routing/settings/searchGateway") return gateways.rows;
    return { body: interfaces };
  };
}
beforeEach(async () => {
  stateOf("none", "none");
  await openLines();
});
afterEach(() => loop.close());

async function published(): Promise<string> {
  await loop.round();
  const valueOf = (name: string) => loop.records.find((each) => each.type === "A" && each.name === name)?.value;
  return [valueOf("home"), valueOf("one")].join(" ");
}
async function gatewayFault() {
  const { readings } = await loop.updater.round(new AbortController().signal);
  const reading = readings.get("home");
  return reading?.kind === "report" ? reading.gatewayFault?.because : reading?.because;
}

const [firstLine, secondLine] = ["81.2.69.10 81.2.69.10", "81.2.69.20 81.2.69.10"];

it("a name leaves the line whose gateway is down, and returns; a name with one interface stays there", async () => {
  expect(await published()).toBe(firstLine);
  stateOf("down", "none");
  expect(await published()).toBe(secondLine);
  stateOf("none", "down");
  expect(await published()).toBe(firstLine);
});

test.each<[string, Partial<Record<Call, Reply>>]>([
  ["the state is answered with an error", { status: { status: 500, body: "" } }],
  ["the state is forbidden", { status: { status: 403, body: "" } }],
  ["the connection breaks", { status: { fault: "reset" } }],
  ["the interfaces of the gateways are answered with an error", { rows: { status: 500, body: "" } }],
])("%s: the last known state counts, and is said", async (_, wrong) => {
  stateOf("down", "none");
  expect(await published()).toBe(secondLine);
  stateOf("down", "none");
  Object.assign(gateways, wrong);
  expect(await published()).toBe(secondLine);
  expect(await gatewayFault()).toBeDefined();
  stateOf("none", "none");
  expect([await published(), await gatewayFault()]).toEqual([firstLine, undefined]);
});

it("a state that was never known holds names with several interfaces, and no others", async () => {
  gateways.status = { status: 500, body: "" };
  expect(await published()).toBe("192.0.2.1 81.2.69.10");
  stateOf("none", "none");
  expect(await published()).toBe(firstLine);
});

it("the call that lists the interfaces of the gateways says their state too, where the other one is missing", async () => {
  stateOf("down", "none");
  const { rows } = (gateways.rows as { readonly body: { readonly rows: object[] } }).body;
  const off = { disabled: true, label_class: "fa fa-plug text-default", gateway: "81.2.69.2" };
  rows.push({ ...rows[0], name: "WAN_OLD", ...off });
  gateways.status = missing;
  expect(await published()).toBe(secondLine);
});

it("without that call, a gateway that is down and may belong to both lines is said, and moves nothing", async () => {
  stateOf("down", "none");
  gateways.rows = missing;
  expect([await published(), await gatewayFault()]).toEqual([
    firstLine,
    expect.stringMatching(/WAN_GW .*igb0 and igb1/),
  ]);
});
