import { createSocket } from "node:dgram";
import { expect, it } from "vitest";
import { until } from "../rig/until.ts";
import { headers, type Listed, openPowerdns, zonePath } from "../rig/updater/powerdns-peer.ts";
import { never, request, type TargetRig } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";
import { pdnsKey } from "../rig/updater/update-servers.ts";

const patch = (rig: TargetRig, body: unknown) =>
  rig.peer.reply?.({ method: "PATCH", path: zonePath, headers, body: JSON.stringify(body) });

describeTarget({
  ...{ api: "powerdns", open: openPowerdns, secret: pdnsKey, several: "left alone", together: true },
  more(rig) {
    const call = async (method: string, path: string, body?: object) => {
      const asked = { method, path: zonePath + path, headers, body: body ? JSON.stringify(body) : "" };
      const answer = await rig.peer.reply?.(asked);
      if ((answer?.status ?? 0) >= 300) throw new Error(String(answer?.body));
      return answer?.body === "" ? {} : (JSON.parse(String(answer?.body)) as { serial: number });
    };
    /** As `pdnsutil` and SQL make zones, or as the API makes them. */
    const setZone = (zone: { kind?: string; soa_edit_api?: string }) =>
      call("PUT", "", { kind: "Native", soa_edit_api: "", ...zone });
    const serial = async () => ((await call("GET", "")) as { serial: number }).serial;
    const sentSoa = () => rig.server.asked.filter(({ method, body }) => method === "PATCH" && body.includes('"SOA"'));
    const other = { ...request, name: "other", value: "9.9.9.8" };

    it.each<[string, () => Promise<unknown> | undefined]>([
      ["one", () => rig.dns.replace(request, never)],
      ["a new one", () => rig.dns.replace({ ...request, name: "new", create: true }, never)],
      ["several", () => rig.dns.replaceAll?.([request, other], never)],
      ["a removed one", () => rig.dns.remove?.({ ...request, value: "192.0.2.1" }, never)],
    ])("raises the serial in the same transaction if PowerDNS does not: %s", async (_, change) => {
      await setZone({});
      const before = await serial();
      await change();
      expect([await serial(), sentSoa().length]).toEqual([before + 1, 1]);
    });

    it("gives each of several writes at the same time its own serial", async () => {
      await setZone({});
      const before = await serial();
      const families = [request, { ...request, family: "ipv6", value: "2a00::9" } as const, other];
      const outcomes = await Promise.all(families.map((each) => rig.dns.replace(each, never)));
      expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
      expect(await serial()).toBe(before + 3);
    });

    it("leaves the serial to PowerDNS if SOA-EDIT-API is set", async () => {
      await setZone({ soa_edit_api: "INCREASE" });
      const before = await serial();
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect([await serial(), sentSoa()]).toEqual([before + 1, []]);
      await setZone({});
    });

    it("does not touch the serial of a zone that comes from another server", async () => {
      await setZone({ kind: "Slave" });
      const before = await serial();
      await rig.dns.replace(request, never);
      expect([await serial(), sentSoa()]).toEqual([before, []]);
      await setZone({});
    });

    const notifies = () => rig.server.asked.filter(({ path }) => path.endsWith("/notify")).map(({ method }) => method);

    it("notifies the secondaries of a Master zone, and only of that", async () => {
      const secondary = createSocket("udp4");
      const opcodesHeard: number[] = [];
      secondary.on("message", (packet) => opcodesHeard.push(((packet[2] ?? 0) >> 3) & 0xf));
      await new Promise<void>((resolve) => secondary.bind(0, "127.0.0.1", resolve));
      await call("PUT", "/metadata/ALSO-NOTIFY", {
        ...{ kind: "ALSO-NOTIFY", metadata: [`127.0.0.1:${secondary.address().port}`] },
      });
      await rig.dns.replace(request, never);
      expect(notifies()).toEqual([]);
      await setZone({ kind: "Master" });
      expect((await rig.dns.replace({ ...request, value: "9.9.9.8" }, never)).kind).toBe("done");
      expect(notifies()).toEqual(["PUT"]);
      await until(() => opcodesHeard.includes(4));
      secondary.close();
      await setZone({});
    });

    it("is done only when the secondaries are notified, or PowerDNS says that there are none", async () => {
      await setZone({ kind: "Master" });
      rig.instead = ({ path }) => (path.endsWith("/notify") ? { fault: "reset" } : undefined);
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
      expect(await rig.dns.replaceAll?.([request, other], never)).toMatchObject([
        { kind: "unknown" },
        { kind: "unknown" },
      ]);
      rig.instead = ({ path }) =>
        path.endsWith("/notify") ? { status: 422, body: { error: "Failed to add to the queue" } } : undefined;
      expect(await rig.dns.replaceAll?.([request, other], never)).toMatchObject([{ kind: "done" }, { kind: "done" }]);
      await setZone({});
    });

    it("keeps comments and disabled records", async () => {
      const name = "home.example.org.";
      const records = [
        { content: "192.0.2.1", disabled: false },
        { content: "192.0.2.99", disabled: true },
      ];
      const comments = [{ content: "the hall", account: "me", modified_at: 1_700_000_000 }];
      const set = { name, type: "A", ttl: 300, changetype: "REPLACE", records, comments };
      await patch(rig, { rrsets: [set] });
      expect(await rig.dns.current(request, never)).toMatchObject({ value: { values: ["192.0.2.1"] } });
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      const { body = "" } = (await rig.peer.reply?.({ method: "GET", path: zonePath, headers, body: "" })) ?? {};
      const { rrsets } = JSON.parse(String(body)) as { rrsets: (Listed & { comments: object[] })[] };
      const held = rrsets.find((each) => each.name === name && each.type === "A");
      expect(held?.records.map(({ content, disabled }) => `${content} ${disabled}`).toSorted()).toEqual([
        "192.0.2.99 true",
        "9.9.9.9 false",
      ]);
      expect(held?.comments).toEqual(comments);
    });
  },
  http: { calls: 4, error: (status, message) => ({ status, body: { error: message } }) },
});
