import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createLog } from "../../process/log.ts";
import { openAccess } from "../access/store.ts";
import { createFirewallConsole } from "./console.ts";

it("does not log aborted requests, with which anybody could fill the disk", async () => {
  const lines: string[] = [];
  const access = openAccess(":memory:");
  onTestFinished(access.close);
  const { handle } = createFirewallConsole({
    access,
    streams: { open: async () => ({ kind: "full" }) },
    log: createLog({ format: "text", write: (line) => void lines.push(line) }),
    now: () => new Date(),
    readTraffic: async () => ({ at: 0, devices: {}, defaultRoutes: [] }),
    caFile: undefined,
    pages: undefined,
  });
  const handled: Promise<boolean>[] = [];
  const server = createServer((request, response) => void handled.push(handle(request, response)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write('POST /console/sign-in HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"na');
  await expect.poll(() => handled.length).toBe(1);
  socket.destroy();
  expect(await handled[0]).toBe(true);
  expect(lines).toEqual([]);
});

it.each(["{", "", "[]", "null"])(
  "a change that is not a JSON object is a 400, and changes nothing: %j",
  async (body) => {
    const access = openAccess(":memory:");
    onTestFinished(access.close);
    const now = new Date();
    access.users.add({ name: "root", privileges: ["all"], now });
    const { handle, makeLink } = createFirewallConsole({
      access,
      streams: { open: async () => ({ kind: "full" }) },
      log: createLog({ format: "text", write: () => undefined }),
      now: () => new Date(),
      readTraffic: async () => ({ at: 0, devices: {}, defaultRoutes: [] }),
      caFile: undefined,
      pages: undefined,
    });
    const server = createServer((request, response) => void handle(request, response));
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers: Record<string, string> = { origin: url.replace("http:", "https:") };
    const link = JSON.stringify({ link: await makeLink("root") });
    const entered = await fetch(`${url}/console/sign-in-link`, { method: "POST", headers, body: link });
    headers.cookie = (entered.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    const session = (await (await fetch(`${url}/console/session`, { headers })).json()) as { csrf: string };
    headers["x-csrf-token"] = session.csrf;
    const statuses: number[] = [];
    for (const route of ["PUT users/root", "POST users"]) {
      const [method = "", path] = route.split(" ");
      statuses.push((await fetch(`${url}/console/${path}`, { method, headers, body })).status);
    }
    expect(statuses).toEqual([400, 400]);
    expect(access.audit.latest(10)).toEqual([]);
    expect((await fetch(`${url}/console/users/root/keys`, { method: "POST", headers })).status).toBe(201);
  },
);
