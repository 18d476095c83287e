import type { Instant } from "../../core/instant.ts";
import type { PlacedRecord } from "../model.ts";
import { type Actor, type NotDone, permissionsAt } from "../queries/sight.ts";
import type { WriteRule } from "../store/port.ts";
import { deleteRecord, editRecord, holds } from "./edit/record.ts";
import { ownersOf, recordRules } from "./record-rules.ts";
import type { PlacedDraft, RecordDraft } from "./requests.ts";
import { noChange, writtenBy } from "./write.ts";

export type Written = { readonly kind: "done"; readonly placed: PlacedRecord } | NotDone;

type By = { readonly actor: Actor; readonly now: Instant };
export type CreateRecord = By & {
  readonly kind: "create-record";
  readonly zone: string;
  readonly id: string;
  readonly draft: RecordDraft;
};
export type ReplaceRecord = By & { readonly kind: "replace-record"; readonly id: string; readonly next: PlacedDraft };
export type DeleteRecord = By & { readonly kind: "delete-record"; readonly id: string };

export function createRecordRule(command: CreateRecord): WriteRule<Written> {
  const { actor, zone, id, draft, now } = command;
  const rules = recordRules(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...writtenBy(actor, now), at: { zone }, owners: ownersOf([draft]) },
    decide: (view) => {
      const read = rules.newContent(actor, view.zone, draft);
      return read.kind === "content" ? editRecord(view, { id, content: read.content }, now) : noChange(read);
    },
  };
}

export function replaceRecordRule(command: ReplaceRecord): WriteRule<Written> {
  const { actor, id, next, now } = command;
  const rules = recordRules(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...writtenBy(actor, now), at: { record: id }, owners: ownersOf([next.draft]) },
    decide: (view) => {
      const set = view.sets.find((each) => holds(each, id));
      const read = rules.nextContent(actor, view.zone, set, next);
      return read.kind === "content" ? editRecord(view, { id, content: read.content }, now) : noChange(read);
    },
  };
}

export function deleteRecordRule(command: DeleteRecord): WriteRule<{ kind: "done" } | NotDone> {
  const { actor, id, now } = command;
  const rules = recordRules(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...writtenBy(actor, now), at: { record: id }, owners: () => [] },
    decide: (view) => {
      const set = view.sets.find((each) => holds(each, id));
      const obstacle = rules.obstacle(actor, view.zone, set);
      return obstacle ? noChange(obstacle) : deleteRecord(view, id);
    },
  };
}
