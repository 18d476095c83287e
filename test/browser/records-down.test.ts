import type { Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { firstOf, isLongRun } from "../rig/long-run.ts";
import { dialogHasFocus, holdTime } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** The DNS console while the service is late, down, or answers something strange. */

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
});
afterEach(() => page.unrouteAll({ behavior: "ignoreErrors" }));
afterAll(() => close?.());

describe("a change that happens before the page is live", () => {
  it("is shown as soon as the page is live", async () => {
    const held = Promise.withResolvers<void>();
    await page.route("**/v1/events", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${rig.url}/zones/harbour.example`);
    await page.getByRole("link", { name: "home AAAA" }).waitFor();
    const early = { name: "early", type: "A", records: [{ value: "192.0.2.67" }] };
    await post("/v1/zones/harbour.example/changes", { changes: [early] });
    held.resolve();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("link", { name: "early A" }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "early" }).textContent()).toContain("192.0.2.67");
  });
});

describe("a service that is down", () => {
  it("makes the page wait, also a part that was not loaded before, and continue automatically when it is back", async () => {
    await rig.stop();
    await page.getByText("connecting…").waitFor();
    await page.getByRole("link", { name: "History" }).click();
    await page.getByText("The service is not responding").waitFor();
    // The service is slow at first: the page is loaded again, and must wait for that.
    const isAsked = Promise.withResolvers<void>();
    const answers = Promise.withResolvers<void>();
    await page.route("**/history", async (route) => {
      isAsked.resolve();
      await answers.promise;
      await route.continue();
    });
    await rig.startAgain();
    await isAsked.promise;
    answers.resolve();
    await page.getByRole("columnheader", { name: "Serial" }).waitFor();
    expect(page.url()).toContain("/history");
    await page.getByText("live", { exact: true }).waitFor();
    // records-live.test.ts has a page that is live again without a load.
    if (isLongRun) {
      await rig.stop();
      await page.getByText("connecting…").waitFor();
      await rig.startAgain();
      await page.getByText("live", { exact: true }).waitFor();
    }
    await page.getByRole("link", { name: "Zones" }).click();
    await page.getByRole("link", { name: "lighthouse.example" }).waitFor();
    expect(await page.getByText("connecting…").count()).toBe(0);
  });

  it.for(
    firstOf([
      { what: "something in front of it answers", answer: { status: 502, contentType: "text/html", body: "<h1>" } },
      { what: "its answer is cut off", answer: { status: 201, contentType: "application/json", body: '{"serial' } },
    ]),
  )("is no reason to believe that nothing was saved when $what", async ({ answer }) => {
    await walkTo(page, `${rig.url}/zones/harbour.example?add=A`);
    await dialogHasFocus(page);
    await page.getByLabel("Name", { exact: true }).fill("unsure");
    await page.getByLabel("IPv4 address").fill("192.0.2.8");
    await page.route("**/changes", (route) => route.fulfill(answer));
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Your change may not have been saved; check before you try again.").waitFor();
    expect(await page.getByText(/nothing was saved|before this was saved/).count()).toBe(0);
  });

  it.for(
    firstOf([
      ["a proxy responds with 502", (route: Route) => route.fulfill({ status: 502, body: "<h1>" })],
      ["a proxy responds with 503", (route: Route) => route.fulfill({ status: 503, body: "<h1>" })],
      ["it does not respond", (route: Route) => route.abort()],
    ] as const),
  )(
    "makes a page wait that is opened meanwhile, without a sign-in, if %s; then an error is shown",
    async ([, respond]) => {
      await page.route(/\/(?:console|v1)\//, respond);
      await page.goto(`${rig.url}/zones`);
      await page.getByText("The service is not responding").waitFor();
      expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
      // The next route is asked first.
      await page.route("**/console/session", (route) => route.fulfill({ status: 500, body: "" }));
      await page.getByText("The service responded with status 500").waitFor();
      expect(await page.getByText("The service is not responding").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
      await page.unrouteAll();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("link", { name: "harbour.example" }).waitFor();
    },
  );
});

// These hold the time of the page, also for tests after them.
describe("a service that is down", () => {
  let giveUp: (after: number) => Promise<unknown>;
  beforeAll(async () => {
    ({ giveUp } = await holdTime(page));
    await page.goto(`${rig.url}/zones`);
    await page.getByRole("link", { name: "harbour.example" }).waitFor();
  });

  // Each waits in another way: for data, for code, for the session, for a zone, and for a part of a list.
  const hanging = [
    ["/tokens", "**/console/tokens*"],
    ["/zones/harbour.example/history", "**/assets/history-part*"],
    ["/", "**/console/session"],
    ["/zones/harbour.example", "**/v1/zones/*"],
    ["/zones/harbour.example/history", "**/console/zones/*/writes*"],
  ] as const;
  it.for(firstOf(hanging, 2))(
    "that hangs causes a message before the request times out: %s without %s",
    async ([path, what]) => {
      await page.route(what, () => undefined);
      const isAsked = page.waitForRequest(what);
      await walkTo(page, rig.url + path);
      await isAsked;
      const message = page.getByText("The service is not responding");
      expect(await message.count()).toBe(0);
      await expect.poll(() => page.clock.fastForward(10_000).then(() => message.count())).toBe(1);
    },
  );

  it("that hangs during a write causes a message above the form", async () => {
    await walkTo(page, `${rig.url}/zones/harbour.example?add=A`);
    await dialogHasFocus(page);
    await page.getByLabel("Name", { exact: true }).fill("slow");
    await page.getByLabel("IPv4 address").fill("192.0.2.7");
    await page.route("**/changes", () => undefined);
    const isSent = page.waitForRequest("**/changes");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await isSent;
    const message = page.getByText("The service has not responded yet");
    expect(await message.count()).toBe(0);
    await expect.poll(() => page.clock.fastForward(10_000).then(() => message.count())).toBe(1);
    await message.click({ trial: true });
    await giveUp(29_999);
    expect(await message.count()).toBe(1);
    await giveUp(30_000);
    await page.getByText("Your change may not have been saved").waitFor();
    await expect.poll(() => message.count()).toBe(0);
  });
});
