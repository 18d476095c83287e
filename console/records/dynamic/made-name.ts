import type { MadeToken } from "../../../src/contract/console.ts";
import type { Device } from "./device-setups.ts";

/** What the device is given, once its token exists. */
export type MadeName = MadeToken &
  NewNameInput & {
    /** Why the token that this one replaces is still in force. */
    readonly notRevoked?: string;
  };

export type NewNameInput = {
  readonly zone: string;
  readonly owner: string;
  readonly device: Device;
  readonly origin: string;
  /** The addresses of the name before. */
  readonly before: readonly string[];
};
