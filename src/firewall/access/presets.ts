import { type Privilege, privileges } from "./privileges.ts";

/** Usual kinds of users. `withKey`: such a user needs a key rather than a password. */
export type Preset = {
  readonly name: string;
  readonly purpose: string;
  readonly privileges: readonly Privilege[];
  readonly withKey: boolean;
};

export const presets: readonly Preset[] = [
  {
    name: "Updater",
    purpose: "Reads the addresses of the interfaces, for moor update or another dynamic DNS client.",
    privileges: ["interface-status"],
    withKey: true,
  },
  {
    name: "Dashboard",
    purpose: "Reads everything that this service reports, and changes nothing.",
    privileges: privileges.filter((each) => each !== "all" && each !== "user-management"),
    withKey: true,
  },
  {
    name: "Administrator",
    purpose: "Can do everything, including managing users.",
    privileges: ["all"],
    withKey: false,
  },
];
