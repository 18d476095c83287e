import type { Algorithm } from "../core/dnssec/codes.ts";
import type { GeneratedChange } from "../core/dnssec/generated-changes.ts";
import type { KeyUse, Lifecycle } from "../core/dnssec/lifecycle.ts";
import type { DenialKind } from "../core/dnssec/plan-signing.ts";
import type { Instant } from "../core/instant.ts";
import type { Scope } from "../core/may.ts";
import type { Consent, Reserved } from "../core/names/zone-neighbours.ts";
import type { PublicationRules } from "../core/provider-rules.ts";
import type { RecordType } from "../core/rdata/table.ts";
import type { Change } from "../core/records/changes.ts";
import type { RRset, ZoneRecord } from "../core/records/rrset.ts";

export type Account = { readonly id: number; readonly name: string };

/** The name of the account of the owner of this machine, who operates the service. */
export const operatorAccount = "main";

export type NewToken = {
  readonly account: number;
  readonly name: string;
  readonly hash: string;
  readonly scope: Scope;
  readonly created: Instant;
};

export type Token = NewToken & {
  readonly id: number;
  readonly accountName: string;
  readonly revoked: Instant | undefined;
  readonly lastUsed: Instant | undefined;
  readonly uses: number;
};

/** What an owner of a zone may change about the zone itself. */
export type ZoneSettings = {
  /** For sets without their own TTL. */
  readonly ttl: number;
  /** Secondary: its records come from `primaries` by zone transfer. */
  readonly mode: "primary" | "secondary";
  readonly labels: Readonly<Record<string, string>>;
  /** While true, the zone cannot be deleted. */
  readonly locked: boolean;
  readonly primaries: readonly PrimaryServer[];
  /**
   * The database has lost changes from before this serial: who has an older one may have content that is not in the
   * history.
   */
  readonly historySince?: number;
  /** Undefined: the zone is not signed. */
  readonly dnssec?: ZoneSigning;
  /** Undefined: the zone is not published at a provider. */
  readonly published?: Publication;
};

/** At which provider a zone is published, and what the rules of writes have to know about that (decisions/0021). */
export type Publication = {
  /** The number of the provider account. */
  readonly provider: number;
  readonly name: string;
  /** The provider's name in messages. */
  readonly service: string;
  readonly drift: DriftRule;
  /** Seconds between two reads of the whole zone; 0: never. */
  readonly readEvery: number;
  readonly rules: PublicationRules;
  /** Changed to have the publisher compare the zone again. */
  readonly asked?: Instant;
  /** The sets for which it was asked: the action of that write waits for them. */
  readonly askedFor?: readonly { readonly owner: string; readonly type: RecordType }[];
};

export type PublicationPatch = Partial<Pick<Publication, "drift" | "readEvery" | "askedFor">>;

/** What to do with a set that somebody changed at the provider. */
export type DriftRule = "ask" | "ours";

/** What a provider holds of a set. */
export type PublishedContent = {
  /** Null: the default of the provider's zone. */
  readonly ttl: number | null;
  /** Canonical, in the order of the text. */
  readonly values: readonly string[];
  readonly proxied?: true;
};

/** What is known about a set at a provider; null is a set that does not exist there. */
export type PublishedSet = {
  readonly owner: string;
  readonly type: RecordType;
  /** What it holds, as far as moor knows. */
  readonly held: PublishedContent | null;
  /** It was proxied when it was last there, and is to be if it comes again. */
  readonly wasProxied?: true | undefined;
  /** Requests that are under way or in doubt, the oldest first; never empty. */
  readonly sent?: readonly OpenRequest[] | undefined;
  /** What somebody else wrote there. */
  readonly theirs?: PublishedContent | { readonly unreadable: string } | null | undefined;
  readonly refused?: { readonly content: PublishedContent | null; readonly words: string } | undefined;
  readonly at: Instant;
};

/** What was sent without a known outcome: it may have been carried out, or may still be. */
export type OpenRequest = {
  readonly content: PublishedContent | null;
  /** When it can be carried out no more; undefined while it is under way. */
  readonly until?: Instant | undefined;
  /** The set was read since. */
  readonly isRead?: true | undefined;
};

/** `before` is undefined if there was no row. */
export type PublishedSetChange = { readonly before: PublishedSet | undefined; readonly after: PublishedSet };

/** As `readAt`: not since the token was replaced, so what the provider holds is unknown. */
export const neverRead: Instant = 0;

/** How far the publisher is with a zone. */
export type PublishedZone = {
  /** The position in the log up to which it knows all changes. */
  readonly through: number;
  /** Sets that are to be sent. */
  readonly waiting: number;
  /** The default TTL of the provider's zone. */
  readonly ttl: number | undefined;
  /** When the whole zone was last read from the provider. */
  readonly readAt: Instant;
  /** Why nothing can be sent. */
  readonly trouble: { readonly text: string; readonly since: Instant } | undefined;
};

export type NewProvider = {
  readonly account: number;
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  /** Certificates to trust, in PEM; undefined: those of the system. */
  readonly ca: string | undefined;
  /** The token, encrypted. */
  readonly sealed: string;
  readonly created: Instant;
};

/** One token of a provider. */
export type StoredProvider = NewProvider & { readonly id: number; readonly replaced: Instant };

/** How a zone is signed. */
export type ZoneSigning = Lifecycle<SigningKey> & {
  readonly denial: DenialKind;
  /** Keys of other signers of the same zone. Absent rather than empty. */
  readonly others?: readonly MultiSignerKey[];
};

/**
 * A public key of another server that signs the zone too (RFC 8901), or did until the zone moved here. It is published
 * as well.
 */
export type MultiSignerKey = {
  readonly tag: number;
  readonly flags: number;
  readonly algorithm: Algorithm;
  /** In base64. */
  readonly publicKey: string;
  readonly added: Instant;
};

/** The public part of a key, and what it is used for. */
export type SigningKey = KeyUse & {
  /** In base64. */
  readonly publicKey: string;
  readonly created: Instant;
};

export type PrimaryServer = {
  readonly id: string;
  readonly address: string;
  readonly port: number;
  readonly tsig?: { readonly algorithm: string; readonly key: string };
  readonly created: Instant;
  readonly modified: Instant;
};

/** The default settings of a zone. */
export const plainSettings = (ttl: number): ZoneSettings => ({
  ttl,
  mode: "primary",
  labels: {},
  locked: false,
  primaries: [],
});

export type NewZone = {
  readonly account: number;
  readonly id: string;
  readonly name: string;
  readonly settings: ZoneSettings;
  readonly serial: number;
  readonly created: Instant;
  readonly sets: readonly RRset[];
  /** Why no single account should own it. */
  readonly reserved?: Reserved | undefined;
};

export type Zone = Omit<NewZone, "sets" | "reserved"> & {
  /** The zone's id in APIs that use numbers. */
  readonly number: number;
  readonly modified: Instant;
  readonly recordCount: number;
  /**
   * The number under which its signed names are stored. Signing a large zone again writes all names under a new one.
   * Undefined: not signed.
   */
  readonly signedNamesNumber?: number | undefined;
};

/** A zone with more records is large: it is read, signed and deleted in parts. */
export const largeZone = 1_000;

export const isLarge = ({ recordCount }: Zone): boolean => recordCount > largeZone;

export type ZoneKey = { readonly number: number } | { readonly name: string };

/** One record with the zone, owner, type and TTL of its set. */
export type RecordInZone = {
  readonly zone: Zone;
  readonly owner: string;
  readonly type: RecordType;
  readonly ttl: number | null;
  readonly record: ZoneRecord;
};

/** A write through an API that has actions. Most are stored together with their effect, and are finished. */
export type Action = {
  readonly id: number;
  readonly zone: number;
  readonly zoneName: string;
  readonly command: string;
  readonly at: Instant;
  /** Absent: success. */
  readonly status?: "running" | "error" | undefined;
  /** Absent: when it began. */
  readonly finished?: Instant | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
  /** The write changed nothing in a zone that is published at a provider. Only in the answer to a write. */
  readonly changedNothing?: true;
};

/**
 * What one write did to one set or to the zone's settings; all rows of one write share zone and serial. A zone begins
 * and ends with its SOA set.
 */
export type LoggedChange = {
  readonly position: number;
  readonly account: number;
  readonly zone: number;
  readonly zoneName: string;
  readonly serial: number;
  readonly at: Instant;
  readonly actor: string;
  readonly change: LoggedSetChange | SettingsChange;
};

/** `settings`: the first ones of a zone, in the row that creates its SOA set. Older zones do not have them there. */
export type LoggedSetChange = Change & Unsigned & { readonly settings?: ZoneSettings };

/**
 * A change of a signed zone that is served only with signatures, which a later row of the log has. Absent: it is served
 * as it is.
 */
type Unsigned = { readonly unsigned?: true };

/** A row of the log. Owners of zones do not see those about signatures. */
export type LoggedRow = Omit<LoggedChange, "change"> & {
  readonly change: LoggedChange["change"] | SignatureChange | SigningRequest;
};

/**
 * A place in the log. `link` identifies the history that leads to it: if two logs have the same place, they have the
 * same rows up to there.
 */
export type LogPlace = { readonly position: number; readonly link: string };

/**
 * Where a reader of the log stopped. `isLast`: it has read no further than this. `timeline`: the database's at that
 * time.
 */
export type LeftPlace = LogPlace & { readonly timeline: string; readonly isLast: boolean };

export type LinkedRow = LoggedRow & LogPlace;

export type SettingsChange = Unsigned & {
  readonly kind: "settings";
  readonly before: ZoneSettings;
  readonly after: ZoneSettings;
};

/**
 * What changed in the records that DNSSEC adds. Null: too many to list, so the zone has to be read again. With the
 * unsigned changes at positions `after` < position <= `through`, it makes the version of the zone that has its serial.
 * Without these two, everything before it was signed.
 */
export type SignatureChange = {
  readonly kind: "signatures";
  readonly sets: readonly GeneratedChange[] | null;
  readonly after?: number;
  readonly through?: number;
};

/** Signatures of these names are to be renewed. `aside`: names that become those of the zone. */
export type SigningRequest = {
  readonly kind: "signing";
  readonly owners: readonly string[] | "all";
  readonly unsigned: true;
  readonly aside?: NamesAside;
};

/**
 * All names of a large zone, signed under a number that the zone does not use yet. `through`: the position in the log
 * as of which they are signed.
 */
export type NamesAside = { readonly number: number; readonly through: number };

/** Whether a row is about signatures, and not a change that somebody made. */
export const isAboutSigning = (change: LoggedRow["change"]): change is SignatureChange | SigningRequest =>
  change.kind === "signatures" || change.kind === "signing";

/** If the zone has no signatures, everything before this row is served without them. */
export const beginsSigning = ({ change }: LoggedRow): boolean =>
  change.kind === "settings" && change.before.dnssec === undefined && change.after.dnssec !== undefined;

export type NewGrant = Consent & {
  readonly actor: string;
  readonly created: Instant;
};

export type Grant = NewGrant & {
  readonly id: number;
  readonly accountName: string;
  readonly zoneName: string | undefined;
};

/** When a secondary zone was last known to be up to date with its primary, and its serial then. */
export type SecondaryNote = { readonly checked: Instant; readonly serial: number };

export type SecondaryState = SecondaryNote & {
  /** The canonical text of its SOA rdata. */
  readonly soa: string;
};

export type NewTransferKey = {
  /** A DNS name, the same on both sides. */
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** In base64. It is needed to compute signatures, so it cannot be stored as a hash. */
  readonly secret: string;
  /** The account whose zones it gives access to; undefined for the zones of all accounts. */
  readonly account: number | undefined;
  /** Read access allows transfers, write access allows updates. */
  readonly scope: Scope;
  readonly created: Instant;
};

export type TransferKey = NewTransferKey & {
  /** Tells it from a revoked key of the same name. */
  readonly number: number;
  readonly accountName: string | undefined;
  readonly revoked: Instant | undefined;
};

/**
 * An account, or one of its zones, would have more than it may have. The APIs answer with the status and the message.
 */
export class OverQuota extends Error {
  readonly statusCode = 422;
}
