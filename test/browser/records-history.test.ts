import { afterAll, beforeAll, expect, it } from "vitest";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
});
afterAll(() => close?.());

const setsOf = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `${word}${i}`, type: "A", records: [{ value: "192.0.2.46" }] }));

it("continues with the writes before a large import, not with the rest of it", async () => {
  await page.goto(rig.url);
  await post("/v1/zones", { name: "large.example", mode: "primary" });
  for (const word of ["first", "second"]) await post("/v1/zones/large.example/changes", { changes: setsOf(1, word) });
  await post("/v1/zones/large.example/changes", { changes: setsOf(450, "bulk") });
  await post("/v1/zones/large.example/changes", { changes: setsOf(1, "last") });
  await page.goto(`${rig.url}/zones/large.example/history`);
  await page.getByText("and 442 more sets").waitFor();
  const rows = page.getByRole("row");
  expect(await rows.count()).toBe(3);
  await page.getByRole("button", { name: "Older changes" }).click();
  for (const word of ["first0 A", "second0 A", "@ SOA"]) await rows.filter({ hasText: word }).waitFor();
  expect(await page.getByText("and 442 more sets").count()).toBe(1);
  await expect.poll(() => page.getByRole("button", { name: "Older changes" }).count()).toBe(0);
});

it("says so if nothing is older than a zone created from a large file", async () => {
  await page.goto(rig.url);
  await post("/v1/zones", { name: "file.example", mode: "primary", rrsets: setsOf(150, "host") });
  await page.goto(`${rig.url}/zones/file.example/history`);
  await page.getByRole("button", { name: "Older changes" }).click();
  await page.getByText("There are no older changes.").waitFor();
  expect(await page.getByRole("button", { name: "Older changes" }).count()).toBe(0);
});
