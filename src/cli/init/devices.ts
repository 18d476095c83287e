import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { chooseAddress } from "../../core/addresses/choose-address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { AnswerOption, Asker } from "./asker.ts";

export const publicAddress = (report: InterfaceReport, device: string, family: Family): string | undefined => {
  const { choice } = chooseAddress(report, { device, family, public: "require" });
  return choice.kind === "address" ? choice.address.text : undefined;
};

export const isDown = (report: InterfaceReport, device: string): boolean => report.get(device)?.up === false;

/**
 * Interfaces with a public address first, then those with another one. If no interface that is up has an address,
 * "none" comes first.
 */
export function deviceChoices(report: InterfaceReport, family: Family): readonly AnswerOption[] {
  const ranked = [...report.keys()].map((device) => {
    const { choice } = chooseAddress(report, { device, family, public: "warn" });
    const text = choice.kind === "address" ? choice.address.text : undefined;
    const isPublic = text !== undefined && publicAddress(report, device, family) !== undefined;
    const address = text === undefined ? "no usable address" : `${text}${isPublic ? "" : ", not public"}`;
    const down = isDown(report, device);
    const rank = down || text === undefined ? 3 : isPublic ? 0 : 1;
    const option = { value: device, label: device, hint: address };
    return { rank, choice: down ? { ...option, hint: `down; ${address}`, caution: "down" } : option };
  });
  const none = { rank: 2, choice: { value: "none", label: "none", hint: `no ${recordTypeOf(family)} record` } };
  const hasAny = ranked.some(({ rank }) => rank < 2);
  const all = hasAny ? [...ranked, { ...none, rank: 4 }] : [none, ...ranked];
  return all.toSorted((a, b) => a.rank - b.rank).map(({ choice }) => choice);
}

/** Warns about an interface that is down or has no public address, while another can still be picked. */
export async function askDevice(
  family: Family,
  report: InterfaceReport,
  cliValue: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<string> {
  const flag = `--${family}`;
  const message = `Which interface has the address for the ${recordTypeOf(family)} record?`;
  for (;;) {
    const device = await asker.pick({ flag, cliValue, message, choices: deviceChoices(report, family) });
    const down = isDown(report, device);
    const isGood = !down && publicAddress(report, device, family) !== undefined;
    if (device === "none" || !asker.asksAgain || isGood) return device;
    const { considered } = chooseAddress(report, { device, family, public: "require" });
    const seen = considered.map(({ text, verdict }) => `${visible(text)} (${verdict})`).join(", ") || "none at all";
    const fault = down ? "is down" : `has no public address for the ${recordTypeOf(family)} record: ${seen}`;
    io.err(`${visible(device)} ${fault}.\n`);
    const another = "Choose another interface?";
    if (!(await asker.yes({ flag, cliValue: undefined, message: another, assumed: true }))) return device;
  }
}
