/** What the pages of the firewall service request beyond the original's API. Times are ISO 8601. */

export type ConsoleUser = {
  readonly name: string;
  readonly fullName: string;
  readonly disabled: boolean;
  readonly expires: string | null;
  readonly privileges: readonly string[];
  readonly groups: readonly string[];
  readonly hasPassword: boolean;
  readonly keys: readonly ConsoleKey[];
};

/** `id` identifies the key in requests; the key itself is shown only once, with its secret. */
export type ConsoleKey = { readonly id: string; readonly beginning: string; readonly created: string };

export type ConsoleGroup = {
  readonly name: string;
  readonly privileges: readonly string[];
  readonly networks: readonly string[];
  readonly members: readonly string[];
};

export type ConsolePeople = {
  readonly users: readonly ConsoleUser[];
  readonly groups: readonly ConsoleGroup[];
  readonly privileges: readonly { readonly id: string; readonly name: string }[];
};

/** The only answer that ever contains the secret; `file` is the file that OPNsense would offer for download. */
export type MadeKey = {
  readonly key: string;
  readonly secret: string;
  readonly file: string;
  readonly fileName: string;
};

export type UserWish = Omit<ConsoleUser, "groups" | "hasPassword" | "keys">;

export type AuditLine = {
  readonly at: string;
  readonly actor: string;
  readonly source: string;
  readonly action: string;
  readonly subject: string;
};
