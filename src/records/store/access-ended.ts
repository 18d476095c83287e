import type { Command } from "./port.ts";

/** The ways in which a command has access, as texts to compare. */
export const accessKeys = ({ token, session, key }: NonNullable<Command["actor"]>): readonly string[] => [
  ...(token === undefined ? [] : [`token ${token}`]),
  ...(session === undefined ? [] : [`session ${session}`]),
  ...(key === undefined ? [] : [`key ${key}`]),
];
