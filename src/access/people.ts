/** The users of one service, identified by name and password. */
export type People = {
  /** Takes just as long for an unknown name. `shutOut` is why a user with the right password may not sign in. */
  readonly check: (name: string, password: string) => Promise<string | { readonly shutOut: string } | undefined>;
  /** Whether there is a user with this name. Others are not logged: people type passwords into the wrong field. */
  readonly hasName: (name: string) => Promise<boolean>;
  /** Undefined if the user was removed or may not sign in. */
  readonly describe: (who: string, from: string) => Promise<Person | undefined>;
  readonly setPassword: (who: string, password: string) => Promise<void>;
};

/** `privileges` tells the pages what to leave out because it would be refused. */
export type Person = {
  readonly name: string;
  readonly hasPassword: boolean;
  readonly privileges?: readonly string[];
};
