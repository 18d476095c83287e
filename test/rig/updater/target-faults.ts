import { expect, it, test } from "vitest";
import type { RecordTarget, ReplaceRequest, TargetFault, WriteOutcome } from "../../../src/updater/targets/target.ts";
import { isLongRun, rowsOf } from "../long-run.ts";
import type { Asked, Reply, TestServer } from "./services.ts";

/** The service that a target talks to: a real one or a fake, with the zone example.org. */
export type TargetPeer = {
  /**
   * Settings of the target's entry besides `api` and `url`, as in YAML: `token: { file: secret }`. `URL` is that of the
   * server.
   */
  readonly settings: string;
  /** Answers HTTP requests. Without it, the settings say where the service is. */
  readonly reply?: (asked: Asked) => Reply | Promise<Reply>;
  /** Replaces all sets of the zone except SOA and NS: `home 300 A 192.0.2.1`. */
  readonly fill: (sets: readonly string[]) => Promise<void> | void;
  /** The sets in the same format, sorted. */
  readonly held: () => Promise<readonly string[]> | readonly string[];
  readonly close: () => Promise<void> | void;
};

/** The service behind a test server, which may answer in its place, and the target that talks to it. */
export type TargetRig = {
  peer: TargetPeer;
  server: TestServer;
  dns: RecordTarget;
  instead: (asked: Asked) => Reply | undefined | Promise<Reply | undefined>;
};

export const never = new AbortController().signal;
export const request: ReplaceRequest = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };

export const faultOf = (outcome: WriteOutcome): TargetFault | undefined =>
  outcome.kind === "done" ? undefined : outcome.fault;

export type FaultCase = {
  readonly secret: string;
  readonly ttl: number;
  readonly error: (status: number, message: string) => Reply;
  readonly isWrite?: (asked: Asked) => boolean;
  /** The answer to a write names the address. */
  readonly echoes?: boolean;
  /**
   * All faults, also in `npm test`. The others try there what depends on the service: its own errors, and answers that
   * are not from it. What an answer means is decided in one place for all of them (write-outcome.test.ts).
   */
  readonly everyFault?: boolean;
};

/** How every target must handle the faults of an HTTP service. */
export function describeFaults(
  rig: TargetRig,
  { secret, ttl, error, isWrite = ({ method }) => method !== "GET", echoes = true, everyFault = false }: FaultCase,
): void {
  const some = <Row extends readonly [string, ...unknown[]]>(rows: readonly Row[], ...names: readonly string[]) =>
    everyFault || isLongRun ? rows : rowsOf(rows, ...names);
  const replace = (more: Partial<ReplaceRequest> = {}) => rig.dns.replace({ ...request, ...more }, never);

  const refusals: [status: string, kinds: readonly TargetFault["kind"][]][] = [
    ["400", ["refused"]],
    ["401", ["unauthorised"]],
    ["403", ["unauthorised"]],
    ["404", ["missing", "refused"]],
    ["409", ["later"]],
    ["422", ["refused"]],
    ["429", ["later"]],
  ];

  test.each(some(refusals, "401", "404", "422"))(
    "%s to a write means that nothing was stored",
    async (status, kinds) => {
      rig.instead = (asked) => (isWrite(asked) ? error(Number(status), `no: ${secret}`) : undefined);
      const outcome = await replace();
      const fault = faultOf(outcome);
      expect([outcome.kind, kinds.includes(fault?.kind ?? "later")]).toEqual(["refused", true]);
      if (status !== "404") expect(fault?.because).toContain(status);
      expect(JSON.stringify(outcome)).not.toContain(secret);
      expect(fault?.todo).not.toBe("");
    },
  );

  it("waits as long as a 429 says", async () => {
    rig.instead = (asked) =>
      isWrite(asked) ? { ...error(429, "slowly"), headers: { "retry-after": "7" } } : undefined;
    expect(faultOf(await replace())).toMatchObject({ kind: "later", retryAfter: 7_000, ofService: true });
  });

  const failures: [status: string][] = [["500"], ["502"], ["503"], ["504"]];
  test.each(some(failures, "503"))("%s to a write leaves its outcome open", async (status) => {
    rig.instead = (asked) => (isWrite(asked) ? { ...error(Number(status), "oops") } : undefined);
    expect(await replace()).toMatchObject({ kind: "unknown", fault: { kind: "later", ofService: true } });
  });

  const lost: [string, Reply][] = [
    ["the connection breaks", { fault: "reset" }],
    ["the answer is cut short", { body: "{ and so on, and so on", fault: "truncate" }],
    ["a proxy answers", { status: 404, body: "<html>not here</html>" }],
  ];
  test.each(some(lost, "a proxy answers"))(
    "the outcome is open when %s, whether or not it was stored",
    async (_, reply) => {
      rig.instead = (asked) => (isWrite(asked) ? reply : undefined);
      expect((await replace()).kind).toBe("unknown");
      rig.instead = async (asked) => {
        if (!isWrite(asked)) return undefined;
        await rig.peer.reply?.(asked);
        return reply;
      };
      expect((await replace()).kind).toBe("unknown");
      rig.instead = () => undefined;
      expect(await rig.dns.current(request, never)).toMatchObject({ value: { values: ["9.9.9.9"] } });
    },
  );

  it.each(echoes ? ["address"] : [])("a success counts only if it is about this %s", async () => {
    let earlier: Reply | undefined;
    rig.instead = async (asked) => {
      if (!isWrite(asked)) return undefined;
      earlier = await rig.peer.reply?.(asked);
      return earlier;
    };
    expect((await replace({ value: "9.9.9.8" })).kind).toBe("done");
    rig.instead = (asked) => (isWrite(asked) ? earlier : undefined);
    expect((await replace()).kind).toBe("unknown");
    expect(await rig.peer.held()).toContain(`home ${ttl} A 9.9.9.8`);
  });

  const unreadable: [string, () => Reply, TargetFault["kind"]][] = [
    ["401", () => error(401, `no: ${secret}`), "unauthorised"],
    ["429", () => error(429, "slowly"), "later"],
    ["503", () => error(503, "oops"), "later"],
    ["a web page", () => ({ body: "<html>" }), "later"],
    ["an empty object", () => ({ body: {} }), "later"],
  ];
  test.each(some(unreadable, "401", "an empty object"))(
    "sends nothing if the answer to everything before the write is %s",
    async (_, reply, kind) => {
      let count = 0;
      rig.instead = (asked) => (count++ === 0 || !isWrite(asked) ? reply() : undefined);
      const outcome = await replace();
      // If the first request is already the write, its outcome may be unknown.
      const open = isWrite(rig.server.asked[0] as Asked) && kind === "later";
      if (!open) expect(outcome).toMatchObject({ kind: "refused", fault: { kind } });
      expect(JSON.stringify(outcome)).not.toContain(secret);
    },
  );
}
