import { type Static, Type } from "typebox";
import { providerKinds } from "./provider-kinds.ts";
import { WireAction } from "./rrsets.ts";

/** The wire format of what is about providers, and about zones that are published there. Part of the record-set API. */

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);

export const WireProvider = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    kind: Type.String({ description: `one of ${providerKinds.join(", ")}` }),
    service: Type.String({ description: "its name in messages" }),
    url: Type.String(),
    created: Type.String(),
    token_replaced: Type.String(),
    zones: Type.Integer({ description: "how many zones are published with it" }),
  },
  { title: "Provider" },
);
export type WireProvider = Static<typeof WireProvider>;

const SetState = Type.Union([
  Type.Literal("published"),
  Type.Literal("waiting"),
  Type.Literal("refused"),
  Type.Literal("drifted"),
]);

const Drift = Type.Union([Type.Literal("ask"), Type.Literal("ours")], {
  description: "what happens to a set that somebody changed at the provider",
});

export const WirePublication = Type.Object(
  {
    provider: Type.String(),
    service: Type.String(),
    drift: Drift,
    read_every: Type.Integer({ description: "seconds between two reads of the whole zone; 0 for never" }),
    read_at: Nullable(Type.String({ description: "null: not since the token was replaced" })),
    trouble: Nullable(Type.Object({ text: Type.String(), since: Type.String() })),
    counts: Type.Object({
      published: Type.Integer(),
      waiting: Type.Integer(),
      refused: Type.Integer(),
      drifted: Type.Integer(),
    }),
  },
  { title: "Publication" },
);
export type WirePublication = Static<typeof WirePublication>;

const Content = Type.Object({ ttl: Nullable(Type.Integer()), values: Type.Array(Type.String()) });
export type WireContent = Static<typeof Content>;

export const WireSetState = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    state: SetState,
    since: Nullable(Type.String()),
    because: Nullable(Type.String({ description: "the words of the provider" })),
    ours: Nullable(Content),
    theirs: Nullable(Content),
  },
  { title: "SetState" },
);
export type WireSetState = Static<typeof WireSetState>;

const PreviewSet = Type.Object({ name: Type.String(), type: Type.String(), ...Content.properties });
const Reason = Type.Object({ name: Type.String(), type: Type.String(), because: Type.String() });

export const WirePreview = Type.Object(
  {
    service: Type.String(),
    digest: Type.String({ description: "of what the provider holds; to be sent with `publish`" }),
    equal: Type.Integer({ description: "how many sets are the same here and there" }),
    only_here: Type.Array(PreviewSet),
    only_there: Type.Array(PreviewSet),
    different: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), here: Content, there: Content })),
    left: Type.Array(Reason, { description: "what stays there as it is, because it cannot be represented here" }),
    not_allowed: Type.Array(Reason, { description: "what the provider would not take from here" }),
    refused: Type.Object(
      { theirs: Type.Array(Type.String()), ours: Type.Array(Type.String()) },
      { description: "why `publish` would be refused with this `fill`; empty if it would not be" },
    ),
  },
  { title: "PublicationPreview" },
);
export type WirePreview = Static<typeof WirePreview>;

export const frontAnswers = {
  providers: Type.Object({ providers: Type.Array(WireProvider) }),
  provider: Type.Object({ provider: WireProvider }),
  publication: Type.Object({ publication: Nullable(WirePublication) }),
  publicationAction: Type.Object({ publication: Nullable(WirePublication), action: WireAction }),
  preview: Type.Object({ preview: WirePreview }),
  sets: Type.Object({ sets: Type.Array(WireSetState) }),
};

const account = {
  kind: WireProvider.properties.kind,
  token: Type.String({
    description: "is tried, then stored encrypted, and never returned; for dns-update, a TSIG key",
  }),
  url: Type.Optional(Type.String({ description: "needed for moor, powerdns and dns-update (dns://HOST:PORT)" })),
  ca: Type.Optional(Type.String({ description: "certificates to trust, in PEM" })),
};

const toPublish = {
  provider: Type.String({ description: "the name or id of the provider" }),
  account: Type.Optional(
    Type.Object(account, { description: "of a provider that is not stored yet; `publish` stores it under that name" }),
  ),
  create: Type.Optional(Type.Boolean({ description: "the zone is created if it does not exist" })),
};

export const frontBodies = {
  provider: Type.Object({ name: Type.String(), ...account }),
  token: Type.Object({ token: Type.String() }),
  preview: Type.Object(toPublish),
  publish: Type.Object({
    ...toPublish,
    digest: Type.String({ description: "of the preview; the provider must still hold the same" }),
    fill: Type.Union([Type.Literal("theirs"), Type.Literal("ours")], {
      description: "theirs: the zone here becomes equal to the provider's; ours: the other way",
    }),
    drift: Type.Optional(Drift),
    read_every: Type.Optional(WirePublication.properties.read_every),
  }),
  changePublication: Type.Object({
    drift: Type.Optional(Drift),
    read_every: Type.Optional(WirePublication.properties.read_every),
  }),
  nothing: Type.Object({}),
};

export const frontQueries = {
  preview: Type.Object({ provider: Type.String({ description: "the name or id of the provider" }) }),
  sets: Type.Object({
    state: Type.Optional(SetState),
    name: Type.Optional(Type.String()),
    page: Type.Optional(Type.Integer()),
    per_page: Type.Optional(Type.Integer()),
  }),
};
