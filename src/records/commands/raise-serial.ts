import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import { compareSerials, nextSerial } from "../../core/records/serial.ts";
import type { WriteRule } from "../store/port.ts";
import { noChange } from "./write.ts";

/** After the store has lost changes: the zone gets a serial that is newer than `sent`, which a node has given out. */
export type RaiseSerial = {
  readonly kind: "raise-serial";
  readonly account: number;
  readonly zone: string;
  readonly sent: number;
  readonly now: Instant;
};

/** Nothing, if another node has raised it above what this one has sent. The result is whether it was raised. */
export const raiseSerialRule = ({ account, zone: id, sent, now }: RaiseSerial): WriteRule<boolean> => ({
  kind: "write",
  request: { account, at: { zone: id }, owners: () => [apex], actor: "moor", now },
  decide: ({ zone }) => {
    const { historySince } = zone.settings;
    if (historySince !== undefined && compareSerials(historySince, sent) === 1) return noChange(false);
    const newest = compareSerials(zone.serial, sent) === 1 ? zone.serial : sent;
    const serial = nextSerial(newest, now);
    return { wanted: undefined, serial, settings: { ...zone.settings, historySince: serial }, result: true };
  },
});
