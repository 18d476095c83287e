import type { DatabaseSync } from "node:sqlite";

/** Who changed which users and keys. Never contains secrets or passwords. */
export type AuditEntry = {
  readonly at: Date;
  /** A user of the service, or the person at the command line. */
  readonly actor: string;
  readonly source: string;
  readonly action: string;
  readonly subject: string;
};

/** Who makes a change, and from where. */
export type AuditActor = { readonly name: string; readonly source: string };

/** Enough for years of a household's changes; the file must not grow forever. */
const kept = 10_000;

export type Audit = ReturnType<typeof openAudit>;

export function openAudit(database: DatabaseSync) {
  const insert = database.prepare("INSERT INTO audit (at, actor, source, action, subject) VALUES (?, ?, ?, ?, ?)");
  const forget = database.prepare("DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?");
  const read = database.prepare("SELECT at, actor, source, action, subject FROM audit ORDER BY id DESC LIMIT ?");
  return {
    note: (actor: AuditActor, action: string, subject: string, now: Date): void => {
      insert.run(now.getTime(), actor.name, actor.source, action, subject);
      forget.run(kept);
    },
    /** The latest first. */
    latest: (most: number): readonly AuditEntry[] =>
      (read.all(most) as AuditRow[]).map((row) => ({ ...row, at: new Date(row.at) })),
  };
}

type AuditRow = Omit<AuditEntry, "at"> & { readonly at: number };

/** A write that may fail, for example because the disk is full: what it adds is not worth an error. */
export function tryTo(write: () => void): void {
  try {
    write();
  } catch {
    // The next one will try again.
  }
}
