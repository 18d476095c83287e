import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { highestTtl } from "../../../core/records/rrset.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";

/** Holds what the zone files of an exported account cannot. Contains no secrets and no hashes of secrets. */
export const manifestFile = "manifest.json";

const closed = { additionalProperties: false } as const;
const Labels = Type.Record(Type.String(), Type.String());

/** Only what the zone file cannot express or expresses differently. */
const RecordBeyond = Type.Object(
  {
    rdata: Type.String(),
    name: Type.Optional(Type.String()),
    value: Type.Optional(Type.String()),
    comment: Type.Optional(Type.String()),
  },
  closed,
);

const SetBeyond = Type.Object(
  {
    owner: Type.String(),
    type: Type.String(),
    labels: Type.Optional(Labels),
    locked: Type.Optional(Type.Boolean()),
    records: Type.Optional(Type.Array(RecordBeyond)),
  },
  closed,
);

const Primary = Type.Object(
  {
    address: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Without its key, which is a secret and must be set again. */
    tsig: Type.Optional(Type.Object({ algorithm: Type.String() }, closed)),
  },
  closed,
);

const ZoneEntry = Type.Object(
  {
    name: Type.String(),
    files: Type.Array(
      Type.Object({ path: Type.String({ pattern: "^zones/[^./\\\\][^/\\\\]*$" }), sha256: Type.String() }, closed),
      { minItems: 1 },
    ),
    mode: Type.Enum(["primary", "secondary"]),
    ttl: Type.Integer({ minimum: 0, maximum: highestTtl }),
    labels: Labels,
    locked: Type.Boolean(),
    primaries: Type.Array(Primary),
    /** Without its keys, which are secrets: an import does not sign the zone. */
    signed: Type.Optional(Type.Literal(true)),
    sets: Type.Array(SetBeyond),
  },
  closed,
);

const Scope = Type.Object(
  {
    access: Type.Enum(["read", "write"]),
    zones: Type.Optional(Type.Array(Type.String())),
    sets: Type.Optional(
      Type.Array(
        Type.Object({ owner: Type.Optional(Type.String()), types: Type.Optional(Type.Array(Type.String())) }, closed),
      ),
    ),
    expires: Type.Optional(Type.Integer()),
    networks: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);

const Manifest = Type.Object(
  {
    format: Type.Literal("moor account"),
    version: Type.Literal(1),
    zones: Type.Array(ZoneEntry),
    tokens: Type.Array(Type.Object({ name: Type.String(), scope: Scope }, closed)),
  },
  closed,
);

export type Manifest = Static<typeof Manifest>;
export type ZoneEntry = Static<typeof ZoneEntry>;
export type SetBeyond = Static<typeof SetBeyond>;
export type RecordBeyond = Static<typeof RecordBeyond>;

export const printManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Reports all faults, each with its line or its place in the manifest. */
export function readManifest(text: string): Result<Manifest> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail({
      code: "bad-json",
      where: placeIn(text, error as Error),
      message: "this is not valid JSON",
      todo: exportAgain,
    });
  }
  if (Value.Check(Manifest, value)) return ok(value);
  const other = notOurs(value);
  return failAll(other === undefined ? Value.Errors(Manifest, value).flatMap(inWords) : [other]);
}

/** A file that this version did not write gets one fault instead of one per field. */
function notOurs(value: unknown): Fault | undefined {
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown };
  if (format !== "moor account")
    return fileFault(
      "bad-manifest",
      manifestFile,
      "this is not a manifest of moor export",
      "use a folder that moor export wrote",
    );
  if (typeof version === "number" && version > 1)
    return fileFault("newer-manifest", manifestFile, "it was written by a newer moor", "import it with that version");
  return undefined;
}

/** `boolean` errors are dropped: the enclosing object's `additionalProperties` error reports the same key. */
function inWords(error: ShapeError): readonly Fault[] {
  const place = error.instancePath.slice(1);
  switch (error.keyword) {
    case "boolean":
      return [];
    case "additionalProperties":
      return error.params.additionalProperties.map((name) => manifestFault(place, `unknown key ${name}`));
    case "required":
      return error.params.requiredProperties.map((name) => manifestFault(place, `${name} is missing`));
    case "type":
      return [manifestFault(place, `it must be ${kinds[String(error.params.type)] ?? "of a different type"}`)];
    case "enum":
      return [manifestFault(place, `it must be one of ${error.params.allowedValues.join(", ")}`)];
    case "minimum":
      return [manifestFault(place, `it must be ${error.params.limit} or more`)];
    case "maximum":
      return [manifestFault(place, `it must be ${error.params.limit} or less`)];
    case "minItems":
      return [manifestFault(place, "it must have at least one entry")];
    case "pattern":
      return [manifestFault(place, "it must be a file in the folder zones, such as zones/example.org.zone")];
    default:
      return [manifestFault(place, error.message)];
  }
}

type ShapeError = ReturnType<typeof Value.Errors>[number];

const kinds: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a string",
  integer: "a whole number",
  boolean: "true or false",
};

/** `place` as in `zones/0/ttl`, empty for the whole manifest. */
export const manifestFault = (place: string, message: string): Fault =>
  fileFault("bad-manifest", `${manifestFile}${place === "" ? "" : ` at ${place}`}`, message, exportAgain);

const exportAgain = "correct it, or export the account again";

function placeIn(text: string, { message }: Error): string {
  const at = /at position (\d+)/.exec(message)?.[1];
  return at === undefined ? manifestFile : `${manifestFile}: line ${text.slice(0, Number(at)).split("\n").length}`;
}

export const fileFault = (code: string, where: string, message: string, todo: string): Fault => ({
  code,
  where,
  message,
  todo,
});
