import { type Static, Type } from "typebox";
import { highestTtl } from "../core/records/rrset.ts";
import { ChangeEvent } from "./change-events.ts";
import { lowestTtl, mostChanges, mostRecords } from "./rrsets-limits.ts";

/** The wire format of the record-set API. Times are RFC 3339, UTC, in whole seconds. */

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const Labels = Type.Record(Type.String(), Type.String());
const Ttl = Type.Integer({ minimum: lowestTtl, maximum: highestTtl });

const PrimaryNameserver = Type.Object({
  address: Type.String(),
  port: Type.Optional(Type.Integer({ default: 53 })),
  tsig_algorithm: Type.Optional(Type.String({ description: "hmac-md5, hmac-sha1 or hmac-sha256" })),
  tsig_key: Type.Optional(Type.String({ description: "base64" })),
});

/** `id` and `name` must come before any nested object: one client takes the first match of each in the text. */
export const RrsetsZone = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    created: Type.String(),
    mode: Type.String({ description: "primary or secondary" }),
    ttl: Ttl,
    labels: Labels,
    primary_nameservers: Type.Array(PrimaryNameserver),
    protection: Type.Object({ delete: Type.Boolean() }),
    status: Type.String({
      description:
        "`ok`; a secondary zone is `updating` until its first transfer, and `error` if there was none within a minute, or if the zone has expired",
    }),
    record_count: Type.Integer(),
    authoritative_nameservers: Type.Object({
      assigned: Type.Array(Type.String()),
      delegated: Type.Array(Type.String()),
      delegation_last_check: Nullable(Type.String()),
      delegation_status: Type.String(),
    }),
    registrar: Type.String(),
    serial: Type.Integer({ description: "grows with every change; not in the original API" }),
    dnssec: Nullable(
      Type.Object(
        {
          stage: Type.String(),
          parent_fault: Nullable(Type.String({ description: "the kind of what is wrong at the parent" })),
        },
        { description: "null: not signed; GET /zones/{id}/dnssec says more; not in the original API" },
      ),
    ),
  },
  { title: "RrsetsZone" },
);
export type RrsetsZone = Static<typeof RrsetsZone>;

const SetRecord = Type.Object({ value: Type.String(), comment: Type.String() });

export const Rrset = Type.Object(
  {
    id: Type.String({ description: "name/TYPE" }),
    name: Type.String({ description: "relative to the zone; @ is the zone itself" }),
    type: Type.String(),
    ttl: Nullable(Ttl),
    labels: Labels,
    protection: Type.Object({ change: Type.Boolean() }),
    records: Type.Array(SetRecord),
    zone: Type.Integer(),
  },
  { title: "RRSet" },
);
export type Rrset = Static<typeof Rrset>;

export const WireAction = Type.Object(
  {
    id: Type.Integer(),
    command: Type.String(),
    status: Type.String({ description: "running, success or error" }),
    progress: Type.Integer(),
    started: Type.String(),
    finished: Nullable(Type.String()),
    resources: Type.Array(Type.Object({ id: Type.Integer(), type: Type.String() })),
    error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  },
  { title: "Action" },
);
export type WireAction = Static<typeof WireAction>;

export const RrsetsGrant = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({
      description: "inside the zone: this name and all names below it; above the zone: this name only",
    }),
    account: Type.String({ description: "the account that may create the zones" }),
    created: Type.String(),
  },
  { title: "RrsetsGrant" },
);
export type RrsetsGrant = Static<typeof RrsetsGrant>;

const wanted = "the parent should have a DS record of this key; `parent_fault` says if it does not";

const SigningKey = Type.Object({
  key_tag: Type.Integer(),
  algorithm: Type.Integer(),
  algorithm_name: Type.String(),
  created: Type.String(),
  published: Type.Boolean({ description: "it is in the DNSKEY set" }),
  signs: Type.Boolean({ description: "it signs the records of the zone" }),
  ds_wanted: Type.Boolean({ description: wanted }),
  digest_type: Type.Integer(),
  digest: Type.String(),
  ds: Type.String({ description: "the DS record as one line" }),
  dnskey: Type.String({ description: "the DNSKEY record as one line" }),
});

const OtherKey = Type.Object({
  key_tag: Type.Integer(),
  algorithm: Type.Integer(),
  algorithm_name: Type.String(),
  added: Type.String(),
  ds_wanted: Type.Boolean({ description: wanted }),
  ds: Nullable(Type.String({ description: "the DS record as one line" })),
  dnskey: Type.String({ description: "the DNSKEY record as one line" }),
});

export const RrsetsSigning = Type.Object(
  {
    signed: Type.Boolean(),
    stage: Nullable(
      Type.String({
        description:
          "new, new-parent, secure or leaving; while the key is replaced, roll-show, roll-parent or roll-sign; with another algorithm, algorithm-sign, algorithm-show, algorithm-parent or algorithm-hide; null if the zone is not signed",
      }),
    ),
    stage_text: Nullable(Type.String({ description: "what the stage means, for people" })),
    since: Nullable(Type.String({ description: "when the stage began" })),
    parent_since: Nullable(
      Type.String({ description: "when the change that the stage waits for was first seen at the parent" }),
    ),
    parent_fault: Nullable(
      Type.Object(
        {
          kind: Type.String({
            description:
              "wrong-ds: resolvers reject the zone; no-ds: the DS record has disappeared; wrong-digest: a DS record names a key, but has another digest; unverified: a server of the parent does not answer, or not usably; differs: only some of its servers have the change that the stage waits for; other-algorithm: beside the right DS record there is one of an algorithm that no key has",
          }),
          text: Type.String({ description: "what was found, with the names of the servers, and what to do" }),
          since: Type.String(),
        },
        { description: "what is wrong at the parent; null if nothing is" },
      ),
    ),
    ignores_silent_servers: Type.Boolean({
      description:
        "does not wait for servers of the parent that do not answer, because ignore_silent_servers was called",
    }),
    denial: Nullable(Type.String({ description: "nsec or nsec3" })),
    keys: Type.Array(SigningKey),
    other_keys: Type.Array(OtherKey, {
      description: "keys of another server that also signs the zone; they are published here too",
    }),
    records: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), values: Type.Array(Type.String()) }), {
      description: "the DNSKEY, CDS and CDNSKEY records at the apex, which are generated automatically",
    }),
  },
  { title: "RrsetsSigning" },
);
export type RrsetsSigning = Static<typeof RrsetsSigning>;

/** Exactly these six keys: one client fails on any other. */
export const RrsetsPagination = Type.Object({
  page: Type.Integer(),
  per_page: Type.Integer(),
  previous_page: Nullable(Type.Integer()),
  next_page: Nullable(Type.Integer()),
  last_page: Type.Integer(),
  total_entries: Type.Integer(),
});
export type RrsetsPagination = Static<typeof RrsetsPagination>;

const meta = Type.Object({ pagination: RrsetsPagination });

export const RrsetsError = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      details: Nullable(Type.Record(Type.String(), Type.Unknown())),
    }),
  },
  { title: "RrsetsError" },
);
export type RrsetsError = Static<typeof RrsetsError>;

const notes = Type.Optional(
  Type.Array(Type.String(), {
    description: "beyond the original API: what is stored differently than it is written in the zone file",
  }),
);

export const answers = {
  zones: Type.Object({ zones: Type.Array(RrsetsZone), meta }),
  zone: Type.Object({ zone: RrsetsZone }),
  zoneAction: Type.Object({ zone: RrsetsZone, action: WireAction, notes }),
  imported: Type.Object({ action: WireAction, notes }),
  importPreview: Type.Object({ notes: Type.Array(Type.String()) }),
  zonefile: Type.Object({ zonefile: Type.String() }),
  action: Type.Object({ action: WireAction }),
  actions: Type.Object({ actions: Type.Array(WireAction), meta: Type.Optional(meta) }),
  rrsets: Type.Object({ rrsets: Type.Array(Rrset), meta }),
  rrset: Type.Object({ rrset: Rrset }),
  rrsetAction: Type.Object({ rrset: Rrset, action: WireAction }),
  changes: Type.Object({ serial: Type.Integer(), action: WireAction }),
  grants: Type.Object({ grants: Type.Array(RrsetsGrant) }),
  grant: Type.Object({ grant: RrsetsGrant }),
  dnssec: Type.Object({ dnssec: RrsetsSigning }),
  dnssecAction: Type.Object({ dnssec: RrsetsSigning, action: WireAction }),
  history: Type.Object({
    history: Type.Array(ChangeEvent),
    meta: Type.Object({
      next_before: Nullable(Type.Integer()),
      rest_of_write: Nullable(
        Type.Integer({
          description:
            "how many more changes of the oldest write on this page are on the next pages; null on the last page, and for tokens limited to some sets",
        }),
      ),
    }),
  }),
};

const OwnRecords = Type.Optional(
  Type.String({
    description:
      "beyond the original API: zone or file; whose SOA and NS sets the zone itself has afterwards. Those that the file lacks stay in both cases",
  }),
);

const ZoneFile = Type.Object({
  zonefile: Type.String(),
  own_records: OwnRecords,
  other_nameservers: Type.Optional(
    Type.Boolean({
      description:
        "beyond the original API: the file may leave out the service's own nameservers; otherwise that is refused",
    }),
  ),
  merge: Type.Optional(
    Type.Boolean({
      description:
        "beyond the original API: sets that are not in the file stay, those in it keep their labels, and the zone keeps its TTL",
    }),
  ),
});

const RecordInput = Type.Object({ value: Type.String(), comment: Type.Optional(Nullable(Type.String())) });
const Records = Type.Array(RecordInput, { minItems: 1, maxItems: mostRecords });
const TtlInput = Type.Optional(Nullable(Ttl));
const SetInput = Type.Object({
  name: Type.String(),
  type: Type.String(),
  ttl: TtlInput,
  labels: Type.Optional(Labels),
  records: Records,
});

const dnskeysText = "DNSKEY records of another server that also signs the zone, with or without a name and a TTL";

export const bodies = {
  zone: Type.Object({
    name: Type.String(),
    mode: Type.String({ description: "primary or secondary" }),
    ttl: Type.Optional(Ttl),
    labels: Type.Optional(Labels),
    primary_nameservers: Type.Optional(Type.Array(PrimaryNameserver)),
    rrsets: Type.Optional(Type.Array(SetInput)),
    zonefile: Type.Optional(Type.String()),
    own_records: OwnRecords,
  }),
  labels: Type.Object({ labels: Type.Optional(Labels) }),
  primaries: Type.Object({ primary_nameservers: Type.Array(PrimaryNameserver) }),
  zoneProtection: Type.Object({ delete: Type.Optional(Type.Boolean()) }),
  zoneTtl: Type.Object({ ttl: Ttl }),
  zonefile: ZoneFile,
  importPreview: Type.Intersect([
    ZoneFile,
    Type.Object({ create: Type.Optional(Type.Boolean({ description: "the zone is to be created with the file" })) }),
  ]),
  set: SetInput,
  setProtection: Type.Object({ change: Type.Boolean() }),
  setTtl: Type.Object({ ttl: TtlInput }),
  records: Type.Object({ records: Records }),
  recordsAndTtl: Type.Object({ records: Records, ttl: TtlInput }),
  grant: Type.Object({ account: Type.String(), name: Type.String() }),
  sign: Type.Object({
    algorithm: Type.Optional(Type.String({ description: "ecdsa-p256 (the default) or ed25519" })),
    denial: Type.Optional(Type.String({ description: "nsec (the default) or nsec3" })),
    also_publish: Type.Optional(Type.Array(Type.String(), { description: dnskeysText })),
  }),
  publishKeys: Type.Object({ dnskeys: Type.Array(Type.String(), { minItems: 1, description: dnskeysText }) }),
  withdrawKeys: Type.Object({
    key_tags: Type.Optional(Type.Array(Type.Integer(), { description: "the default is all of them" })),
  }),
  rollKey: Type.Object({
    algorithm: Type.Optional(
      Type.String({ description: "ecdsa-p256 or ed25519; the default is the algorithm of the old key" }),
    ),
  }),
  changeDenial: Type.Object({ denial: Type.String({ description: "nsec or nsec3" }) }),
  unsign: Type.Object({
    immediately: Type.Optional(
      Type.Boolean({
        description: "do not wait until the DS record is gone; while the parent has it, resolvers reject the zone",
      }),
    ),
  }),
  keepSigned: Type.Object({}),
  put: Type.Object({ records: Records, ttl: TtlInput, labels: Type.Optional(Labels) }),
  comments: Type.Object({ records: Type.Array(SetRecord, { minItems: 1, maxItems: mostRecords }) }),
  changes: Type.Object({
    expected_serial: Type.Optional(
      Nullable(Type.Integer({ description: "refused with 409 if the zone has a different serial" })),
    ),
    changes: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        ttl: TtlInput,
        labels: Type.Optional(Labels),
        records: Type.Optional(Records),
        delete: Type.Optional(Type.Literal(true, { description: "deletes the set" })),
      }),
      { minItems: 1, maxItems: mostChanges },
    ),
  }),
};

const Many = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const paging = (most: number) => ({
  sort: Many("field, field:asc or field:desc; repeatable"),
  page: Type.Optional(Type.Integer({ minimum: 0, default: 1, description: "0 also means the first page" })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: 25 })),
});
const labelSelector = Type.Optional(Type.String({ description: "k, !k, k=v, k!=v, k in (a,b), k notin (a,b)" }));

export const queries = {
  zones: Type.Object({
    name: Type.Optional(Type.String()),
    mode: Type.Optional(Type.String()),
    owns: Type.Optional(Type.String({ description: "only the zone that contains this name; not in the original API" })),
    search: Type.Optional(Type.String({ description: "part of a name; not in the original API" })),
    label_selector: labelSelector,
    ...paging(50),
  }),
  zonefile: Type.Object({
    labels: Type.Optional(
      Type.Boolean({
        description:
          "with labels, protection and signed zones as comments, which an import reads; not in the original API",
      }),
    ),
  }),
  sets: Type.Object({
    name: Type.Optional(Type.String()),
    type: Many("repeatable"),
    label_selector: labelSelector,
    ...paging(100),
  }),
  actions: Type.Object({ id: Many("repeatable"), status: Many("repeatable"), ...paging(50) }),
  actionsById: Type.Object({ id: Type.Array(Type.String(), { description: "repeatable" }) }),
  history: Type.Object({
    before: Type.Optional(Type.Integer({ description: "next_before of the previous page" })),
    per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  }),
};
