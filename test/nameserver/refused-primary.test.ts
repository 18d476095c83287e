import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../rig/until.ts";
import { startMoorDns } from "./moor-dns.ts";

it("a stored zone is not transferred from an address that is not permitted, and NOTIFY from there is refused", async () => {
  let asked = 0;
  const internal = createServer((socket) => {
    asked += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => internal.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => void internal.close());
  const moor = await startMoorDns({ allowedPrimaries: [] });
  onTestFinished(moor.close);
  const { port } = internal.address() as { port: number };
  const server = { id: "p", address: "127.0.0.1", port, created: 1, modified: 1 };
  await moor.makeZone("old.example", "", { mode: "secondary", primaries: [server] });
  await until(() => moor.log().includes("127.0.0.1 is not a public address"), { what: moor.log });
  expect(moor.log()).toContain("--allow-primary 127.0.0.1");
  expect(await moor.dig("+opcode=notify", "old.example", "SOA")).toContain("status: REFUSED");
  expect(asked).toBe(0);
});
