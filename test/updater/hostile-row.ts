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
  /** Undoes it; without it, both sides are well again. */
  end?(loop: Loop, certificates: Certificates): void | Promise<void>;
  /** What the first bad round comes to, for A and AAAA; once when it is the same for both. */
  readonly outcomes: readonly [string, string] | readonly [string];
  /** Writes that reach the record service during the bad rounds, however they are answered. */
  readonly sent: number;
  /** Said once in three bad rounds; the number of warnings altogether. */
  readonly told: RegExp;
  readonly warnings: number;
  /** `new` when the record is right in spite of it. */
  readonly published?: "old" | "new";
  /** `lost` while the file cannot be read. */
  readonly stored?: "old" | "new" | "lost";
  /** Breaks each bad round off when one more of these was asked. */
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

/** A firewall that fails as told; nothing may be sent for it. */
export const firewall = (
  part: HostileRow["part"],
  title: string,
  reply: () => Reply,
  told: RegExp,
  settings?: LoopSettings,
): HostileRow => ({
  ...{ part, title, told, warnings: 1, sent: 0, outcomes: ["failed"], ...(settings ? { settings } : {}) },
  begin(loop) {
    loop.says.firewall = reply;
  },
});

/** An interface that is read well and has these; nothing may be sent for those that are not fit. */
export const address = (
  title: string,
  wan0: unknown,
  told: RegExp,
  more: Partial<Pick<HostileRow, "outcomes" | "sent" | "published" | "stored" | "settings" | "warnings">> = {},
): HostileRow => ({
  ...{ part: "address", title, told, warnings: 2, sent: 0, outcomes: ["none"], ...more },
  begin(loop) {
    loop.says.firewall = () => ({ body: { wan0 } });
  },
});

/** A record service that answers as told, to everything or to writes alone. */
export const service = (
  title: string,
  reply: (asked: Asked) => Reply | undefined,
  told: RegExp,
  sent: number,
  more: Partial<HostileRow> = {},
): HostileRow => ({
  ...{ part: "service", title, told, warnings: 2, sent, outcomes: ["failed"] },
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
