import { type Command, InvalidArgumentError } from "commander";
import { onData, readPath } from "./options.ts";

/** Which store a verb works on. */
export type DatabaseOptions = {
  readonly data: string;
  readonly database?: string;
  readonly databasePasswordFile?: string;
  readonly databaseConnections?: number;
};

/** A verb that works on the store. */
export const storeVerb = (parent: Command, name: string, text: string): Command =>
  onData(databaseOptions(parent.command(name)), text);

export function databaseOptions(command: Command): Command {
  return command
    .option("--database <url>", "a PostgreSQL database instead of a file: postgres://user@host/database?sslmode=…")
    .option(
      "--database-password-file <file>",
      "a file with its password (default: PGPASSWORD, or PostgreSQL's passfile)",
      readPath,
    );
}

/** Only for services: other verbs use few connections. */
export const connectionsOption = (command: Command): Command =>
  command.option(
    "--database-connections <number>",
    "maximum number of connections to PostgreSQL (default: 10)",
    readConnections,
  );

function readConnections(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 3) throw new InvalidArgumentError("It must be a number, 3 or more.");
  return number;
}
