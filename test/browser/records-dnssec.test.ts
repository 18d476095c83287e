import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { axeFindsInLongRun } from "./axe.ts";
import { wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** The DNSSEC tab of a zone. */

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "signed.example", mode: "primary" });
});
afterAll(() => close?.());

const zone = "/zones/signed.example";
const section = () => page.getByRole("region", { name: "DNSSEC" });

/** A point of P-256, as in a DNSKEY record. */
function publicKey(): string {
  const { x = "", y = "" } = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  return Buffer.concat([x, y].map((part) => Buffer.from(part, "base64url"))).toString("base64");
}

it("DNSSEC is switched on, gives the DS record in every form, publishes keys of another server, and is switched off in steps", async () => {
  await page.goto(`${rig.url}${zone}/dnssec`);
  await section().getByRole("button", { name: "Sign the zone" }).press("Enter");
  await section().getByText("Wait for the next stage before you give the DS record to your registrar").waitFor();
  await section().getByText("For your registrar, at the next stage").waitFor();
  await section().locator(":focus").waitFor();
  const ds = await section()
    .getByText(/^signed\.example\. 3600 IN DS \d+ 13 2 [0-9A-F]{64}$/)
    .textContent();
  const tag = ds?.split(" ")[4] ?? "";
  const fields = [tag, "13 (ECDSAP256SHA256)", "2 (SHA-256)", `${ds?.split(" ").at(-1)}Copy`];
  expect(await section().locator("dd").allTextContents()).toEqual(fields);
  await section()
    .getByText(/IN DNSKEY 257 3 13 /)
    .waitFor();
  expect(await section().locator("[aria-current=step]").textContent()).toBe("No unsigned records in caches");
  await section()
    .getByText(/The next stage begins in 1 hour \d+ minutes?, at \d+ \w+ \d+/)
    .waitFor();

  await section().getByText("Move the zone to or from another server…").click();
  const [other, zoneKey] = [257, 256].map((flags) => `${flags} 3 13 ${publicKey()}`);
  const publish = async (text: string) => {
    await section().getByLabel("DNSKEY records of the other server").fill(text);
    await section().getByRole("button", { name: "Publish these keys too" }).click();
  };
  await publish("257 3 8 AwEAAQ==");
  await section().getByText("the key uses algorithm 8 (RSASHA256)").waitFor();
  await publish(`${other}\nsigned.example. 60 IN DNSKEY ${zoneKey}`);
  await section().getByText("The other server must publish this:").waitFor();
  await section().getByText("it needs no DS record").waitFor();
  expect(
    await section()
      .getByText(/3600 IN DS \d+ 13 2/)
      .allTextContents(),
  ).toHaveLength(2);
  expect(await section().getByRole("button", { name: "Switch DNSSEC off…" }).count()).toBe(0);
  expect(await axeFindsInLongRun(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  await page.setViewportSize(wide);
  const withdraw = section().getByRole("button", { name: /^Withdraw the key/ });
  for (const left of [1, 0]) {
    await withdraw.first().click();
    await section().getByText("Withdraw it").click();
    await expect.poll(() => withdraw.count()).toBe(left);
  }

  await section().getByRole("button", { name: "Switch DNSSEC off…" }).click();
  await section().getByRole("button", { name: "Ask the parent to remove the DS record" }).click();
  await section().getByText("Waiting until the parent has removed the DS record").waitFor();
  await section().getByRole("button", { name: "Unsign without waiting…" }).click();
  await section().getByRole("button", { name: "Unsign now" }).click();
  await section().getByRole("button", { name: "Sign the zone" }).waitFor();
  await walkTo(page, `${rig.url}${zone}/history`);
  await page.getByText("DNSSEC waits until unsigned records have expired from caches").first().waitFor();
});
