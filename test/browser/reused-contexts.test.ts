import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { openBrowser } from "./browser.ts";

const server = createServer((_, response) => response.end("<p>a page"));
afterAll(() => void server.close());

it("a context that was used before remembers nothing of the pages in it", async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const round of ["first", "second"]) {
    const browser = await openBrowser();
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    expect([round, await page.evaluate("localStorage.getItem('kept')")]).toEqual([round, null]);
    await page.evaluate("localStorage.setItem('kept', 'yes')");
    await page.close();
    await browser.close();
  }
});
