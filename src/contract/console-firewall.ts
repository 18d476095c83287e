/** What the pages of the firewall service request beyond the original's API. Times are ISO 8601. */

export type ConsoleUser = {
  readonly name: string;
  readonly fullName: string;
  readonly disabled: boolean;
  readonly expires: string | null;
  readonly privileges: readonly string[];
  /** The privileges apply only from these networks; empty: from anywhere. */
  readonly networks: readonly string[];
  readonly hasPassword: boolean;
  readonly keys: readonly ConsoleKey[];
};

/** `id` identifies the key in requests; the key itself is shown only once, with its secret. */
export type ConsoleKey = {
  readonly id: string;
  readonly beginning: string;
  readonly created: string;
  /** Up to five minutes too early; null if it was never used. */
  readonly lastUsed: string | null;
};

export type ConsolePeople = {
  readonly users: readonly ConsoleUser[];
  readonly privileges: readonly { readonly id: string; readonly name: string }[];
  readonly presets: readonly ConsolePreset[];
};

/** A usual kind of user. */
export type ConsolePreset = {
  readonly name: string;
  readonly purpose: string;
  readonly privileges: readonly string[];
  /** Such a user needs a key rather than a password. */
  readonly withKey: boolean;
};

/** The only answer that ever contains the secret; `file` is the file that OPNsense would offer for download. */
export type MadeKey = {
  readonly key: string;
  readonly secret: string;
  readonly file: string;
  readonly fileName: string;
};

export type UserInput = Omit<ConsoleUser, "hasPassword" | "keys">;

/** A user and, if wanted, their first key; then the answer is a `MadeKey`. */
export type NewUserInput = UserInput & { readonly withKey?: boolean };

/** An error with the code `field:name` belongs to that field of the form. */
export type UserField = "name" | "fullName" | "expires" | "privileges" | "networks";

export type AuditLine = {
  readonly at: string;
  readonly actor: string;
  readonly source: string;
  readonly action: string;
  readonly subject: string;
  readonly kind: "change" | "sign-in" | "failed-sign-in";
  /** Sign-ins that are repeated within an hour are one line. */
  readonly times: number;
};

/** Byte counters of the devices at one moment; pages compute rates from two of them. */
export type ConsoleTraffic = {
  /** Milliseconds on a clock that restarts with the service. */
  readonly at: number;
  readonly devices: Readonly<Record<string, { readonly received: number; readonly sent: number }>>;
  /** The devices that carry a default route. */
  readonly defaultRoutes: readonly string[];
};
