import type { Command } from "./port.ts";

export const accessKinds = ["token", "session", "key"] as const satisfies readonly (keyof NonNullable<
  Command["actor"]
>)[];

/** The ways in which a command has access, as texts to compare. */
export const accessKeys = (actor: NonNullable<Command["actor"]>): readonly string[] =>
  accessKinds.flatMap((kind) => (actor[kind] === undefined ? [] : `${kind} ${actor[kind]}`));
