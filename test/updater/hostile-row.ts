import type { ReadableInterface } from "../../src/contract/interfaces-client.ts";
import type { TestCertificate } from "../rig/updater/certificates.ts";
import type { Loop, LoopSettings } from "../rig/updater/loop.ts";
import type { Asked, Reply } from "../rig/updater/services.ts";
import { wanWith } from "../rig/updater/services.ts";

/** One thing that goes wrong, after a good round and together with a change of both addresses. */
export type HostileRow = {
  readonly part: "transport" | "status" | "body" | "address" | "service" | "disk" | "clock" | "signal";
  readonly title: string;
  readonly settings?: LoopSettings;
  /** The firewall has a certificate, signed by an authority that the config trusts. */
  readonly overTls?: boolean;
  begin(loop: Loop, certificates: Certificates): void | Promise<void>;
  /** Undoes it. By default, both sides work again. */
  end?(loop: Loop, certificates: Certificates): void | Promise<void>;
  /** The result of the first bad round, for A and AAAA; a single entry if it is the same for both. */
  readonly outcomes: readonly [string, string] | readonly [string];
  /** The writes that reach the record service during the bad rounds, whatever the answer. */
  readonly sent: number;
  /** Logged once in three bad rounds; `warnings` is the total number of warnings. */
  readonly logged: RegExp;
  readonly warnings: number;
  /** `new` if the record is correct in spite of it. */
  readonly published?: "old" | "new";
  /** `lost` while the file cannot be read. */
  readonly stored?: "old" | "new" | "lost";
  /** Aborts each bad round at the next request to one of these. */
  readonly stopAt?: (loop: Loop) => readonly Asked[];
};

export type Certificates = {
  readonly good: TestCertificate;
  readonly stranger: TestCertificate;
  readonly expired: TestCertificate;
  readonly otherName: TestCertificate;
};

export const before = { A: "9.9.9.9", AAAA: "2a00::9" };
export const after = { A: "9.9.9.10", AAAA: "2a00::10" };

export const moved = (): Reply => ({ body: { wan0: wanWith([after.A], [after.AAAA, "fe80::1"]) } });

/** A firewall that fails in the given way; nothing may be sent for it. */
export const firewall = (
  part: HostileRow["part"],
  title: string,
  reply: () => Reply,
  logged: RegExp,
  settings?: LoopSettings,
): HostileRow => ({
  ...{ part, title, logged, warnings: 1, sent: 0, outcomes: ["failed"], ...(settings ? { settings } : {}) },
  begin(loop) {
    loop.says.firewall = reply;
  },
});

/** A row that other kinds of sources can report too. */
export type AddressRow = HostileRow & { readonly wan0: ReadableInterface };

/** An interface that can be read and has these addresses; nothing may be sent for unusable ones. */
export const address = (
  title: string,
  wan0: ReadableInterface,
  logged: RegExp,
  more: Partial<Pick<HostileRow, "outcomes" | "sent" | "published" | "stored" | "settings" | "warnings">> = {},
): AddressRow => ({
  ...{ part: "address", title, wan0, logged, warnings: 2, sent: 0, outcomes: ["none"], ...more },
  begin(loop) {
    loop.says.firewall = () => ({ body: { wan0 } });
  },
});

/** A record service that answers in the given way, to everything or only to writes. */
export const service = (
  title: string,
  reply: (asked: Asked) => Reply | undefined,
  logged: RegExp,
  sent: number,
  more: Partial<HostileRow> = {},
): HostileRow => ({
  ...{ part: "service", title, logged, warnings: 2, sent, outcomes: ["failed"] },
  begin(loop) {
    loop.says.firewall = moved;
    loop.says.service = reply;
  },
  ...more,
});

export const toWrites =
  (reply: Reply) =>
  ({ method }: Asked): Reply | undefined =>
    method === "GET" ? undefined : reply;
