import type { WireContent, WirePreview, WireProvider, WirePublication, WireSetState } from "../../../contract/front.ts";
import { readableRdata } from "../../../core/rdata/rdata.ts";
import { type RecordType, typeName } from "../../../core/rdata/table.ts";
import { faultInWords } from "../../../core/result.ts";
import type { Preview } from "../../front/preview.ts";
import type { ProviderView } from "../../front/provider-operations.ts";
import type { PublicationView, SetStateView } from "../../front/state-operations.ts";
import { neverRead, type PublishedContent } from "../../model.ts";
import { timeText } from "./wire.ts";

export const providerToWire = (provider: ProviderView): WireProvider => ({
  id: provider.id,
  name: provider.name,
  kind: provider.kind,
  service: provider.service,
  url: provider.url,
  created: timeText(provider.created),
  token_replaced: timeText(provider.replaced),
  zones: provider.zones,
});

export const publicationToWire = ({ published, note, counts }: PublicationView): WirePublication => ({
  provider: published.name,
  service: published.service,
  drift: published.drift,
  read_every: published.readEvery,
  read_at: note.readAt === neverRead ? null : timeText(note.readAt),
  trouble: note.trouble ? { text: note.trouble.text, since: timeText(note.trouble.since) } : null,
  counts,
});

const contentToWire = (type: RecordType, { ttl, values }: PublishedContent): WireContent => ({
  ttl,
  values: values.map((value) => readableRdata(type, value)),
});

export function setStateToWire(set: SetStateView): WireSetState {
  const { owner: name, type, state, since, because, ours, theirs } = set;
  const isUnreadable = theirs !== null && theirs !== undefined && "unreadable" in theirs;
  return {
    name,
    type: typeName(type),
    state,
    since: since === undefined ? null : timeText(since),
    because: (isUnreadable ? theirs.unreadable : because) ?? null,
    ours: ours && contentToWire(type, ours),
    theirs: theirs && !isUnreadable ? contentToWire(type, theirs) : null,
  };
}

export const previewToWire = (preview: Preview): WirePreview => ({
  service: preview.service,
  digest: preview.digest,
  equal: preview.equal,
  only_here: preview.onlyHere.map(previewSetToWire),
  only_there: preview.onlyThere.map(previewSetToWire),
  different: preview.different.map(({ owner, type, here, there }) => ({
    name: owner,
    type: typeName(type),
    here: contentToWire(type, here),
    there: contentToWire(type, there),
  })),
  left: [...preview.left],
  refused: { theirs: preview.refused.theirs.map(faultInWords), ours: preview.refused.ours.map(faultInWords) },
  not_allowed: preview.notAllowed.map(({ owner, type, because }) => ({ name: owner, type: typeName(type), because })),
});

const previewSetToWire = ({ owner, type, ...content }: Preview["onlyHere"][number]) => ({
  name: owner,
  type: typeName(type),
  ...contentToWire(type, content),
});
