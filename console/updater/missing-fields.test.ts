import { expect, it } from "vitest";
import { missingIn } from "./missing-fields.ts";

const wall = { name: "wall", called: "OPNsense", isOne: false, devices: ["wan0"] };
const box = { name: "box", called: "FRITZ!Box", isOne: true, devices: [] };
const [off, on, wan] = [false, true, true].map((isOn, i) => ({ isOn, devices: i === 2 ? "wan0" : "" }));

it.for([
  ["nothing, with the interface", { ipv4: wan }, [wall], []],
  ["the interface of a family that is on", { ipv4: on, ipv6: wan }, [wall], ["ipv4"]],
  ["the interfaces of both families", { ipv4: on, ipv6: on }, [wall], ["ipv4", "ipv6"]],
  ["no interface for a source that knows only one connection", { ipv4: on }, [box], []],
  ["no interface if the name uses only such a source", { ipv4: on, source: "box" }, [wall, box], []],
  ["the interface if it may use another source too", { ipv4: on }, [wall, box], ["ipv4"]],
  ["a family", { ipv4: off }, [wall], ["ipv4"]],
  ["name and zone", { ipv4: wan, name: " ", zone: "" }, [wall], ["name", "zone"]],
] as const)("missing is %s", ([, given, sources, missing]) => {
  const rest = { name: "home", zone: "example.org", source: "", target: "", ttl: "", create: true, paused: false };
  const fields = { ...rest, ipv6: { isOn: false, devices: "" }, ...given };
  expect(Object.keys(missingIn(fields as never, sources)).toSorted()).toEqual(missing);
});
