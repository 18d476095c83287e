import { expect, it } from "vitest";
import { until } from "../../test/rig/until.ts";
import type { ZoneEvent } from "../nameserver/answer/zone-source.ts";
import type { LoggedRow } from "../records/model.ts";
import { SignerWaits } from "./signer-waits.ts";

function createWaits(longest = 60_000) {
  const events: string[] = [];
  const waits = new SignerWaits((event: ZoneEvent) => {
    if ("through" in event) events.push(`${event.kind} ${event.zone} ${event.through}`);
  }, longest);
  /** `a5*`: a change of zone a at position 5, which is not signed; `A7<5`: signatures through 5; `x7`: a ends. */
  const note = (text: string) => waits.note(text.split(" ").map(rowOf));
  const taken = () => events.splice(0);
  return { waits, note, taken };
}

function rowOf(word: string): LoggedRow {
  const [, letter = "", position, mark, through] = /^(\w)(\d+)([*<]?)(\d*)$/.exec(word) ?? [];
  const change =
    mark === "<"
      ? { kind: "signatures", sets: [], through: Number(through) }
      : {
          kind: letter === "x" ? "delete" : "replace",
          owner: "@",
          type: "SOA",
          ...(mark === "*" && { unsigned: true }),
        };
  const zone = letter === "x" ? "a" : letter.toLowerCase();
  return { position: Number(position), zone: zone.charCodeAt(0), zoneName: zone, change } as unknown as LoggedRow;
}

it("says which zones queries wait for, and up to where they are signed", () => {
  const { waits, note, taken } = createWaits();
  note("a1* a2* b3");
  expect(taken()).toEqual(["unsigned a 2"]);
  note("a4* b5* A6<2");
  expect(taken()).toEqual(["unsigned a 4", "unsigned b 5", "signed a 2"]);
  expect(waits.pending()).toEqual([
    { kind: "unsigned", zone: "b", through: 5 },
    { kind: "unsigned", zone: "a", through: 4 },
  ]);
  note("A7<4 B8<5");
  expect(taken()).toEqual(["signed a 4", "signed b 5"]);
  note("a9* x10");
  expect(taken()).toEqual(["unsigned a 9", "signed a 10"]);
  expect(waits.pending()).toEqual([]);
  expect(waits.lateSince()).toBeUndefined();
});

it("gives up, says so, and does not wait again for the zone until some of it is signed", async () => {
  const { waits, note, taken } = createWaits(5);
  const given: string[] = [];
  note("a1*");
  await until(() => given.push(...taken()) === 2, { what: () => "a zone that is given up" });
  expect(given).toEqual(["unsigned a 1", "signed a 1"]);
  expect(waits.lateSince()).toBeLessThan(performance.now());
  note("a2*");
  expect([taken(), waits.pending()]).toEqual([[], []]);
  note("A3<1");
  expect(taken()).toEqual(["unsigned a 2"]);
  note("A4<2");
  expect(taken()).toEqual(["signed a 2"]);
  expect(waits.lateSince()).toBeUndefined();
  waits.forget();
});
