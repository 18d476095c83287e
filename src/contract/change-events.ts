import { type Static, Type } from "typebox";

const ChangedRecord = Type.Object({ value: Type.String(), comment: Type.String() });

const ChangedSet = Type.Object({
  ttl: Type.Union([Type.Integer(), Type.Null()]),
  labels: Type.Record(Type.String(), Type.String()),
  protection: Type.Object({ change: Type.Boolean() }),
  records: Type.Array(ChangedRecord),
});

const ChangedZone = Type.Object({
  ttl: Type.Integer(),
  mode: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  protection: Type.Object({ delete: Type.Boolean() }),
  primary_nameservers: Type.Array(Type.Object({ address: Type.String(), port: Type.Integer() })),
  dnssec: Type.Optional(
    Type.Object({
      stage: Type.String(),
      denial: Type.String({ description: "`nsec` or `nsec3`" }),
      parent_fault: Type.Union([Type.String(), Type.Null()], {
        description: "the kind of what is wrong at the parent",
      }),
      keys: Type.Array(Type.Integer({ description: "key tags, including those of another server's keys" })),
    }),
  ),
});

/** What one write did to one set, or to the zone itself: the entries of a zone's history and of the event stream. */
export const ChangeEvent = Type.Object(
  {
    id: Type.Integer({
      description: "grows with every change; send it as Last-Event-ID to continue after this change",
    }),
    zone: Type.Object({ id: Type.Integer(), name: Type.String() }),
    serial: Type.Integer({ description: "the zone's serial after the write; all changes of one write share it" }),
    at: Type.String({ description: "UTC" }),
    by: Type.String({ description: "who made the change" }),
    kind: Type.Union([
      Type.Literal("create"),
      Type.Literal("replace"),
      Type.Literal("delete"),
      Type.Literal("settings"),
    ]),
    name: Type.Union([Type.String(), Type.Null()]),
    type: Type.Union([Type.String(), Type.Null()]),
    before: Type.Union([ChangedSet, ChangedZone, Type.Null()]),
    after: Type.Union([ChangedSet, ChangedZone, Type.Null()]),
  },
  { title: "Change" },
);
export type ChangeEvent = Static<typeof ChangeEvent>;
export type ChangedSet = Static<typeof ChangedSet>;
export type ChangedZone = Static<typeof ChangedZone>;
