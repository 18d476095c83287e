import { setsPerConsolePage } from "../../contract/console.ts";
import { json, type PlainAnswer, problem } from "../../lib/http/plain-request.ts";
import { setToWire } from "../api/rrsets/wire.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { RecordService } from "../service.ts";

/** A page of a zone's sets, like that of the record-set API but larger: the pages show whole zones. */
export async function answerSets(
  { setPage }: Pick<RecordService, "setPage">,
  actor: Actor,
  { zone: name, query }: { readonly zone: string; readonly query: unknown },
): Promise<PlainAnswer> {
  const { page: text = "1" } = query as { readonly page?: unknown };
  if (typeof text !== "string" || !/^[1-9]\d{0,5}$/.test(text)) return problem(422, "page: must be a number from 1.");
  const paging = { page: Number(text), perPage: setsPerConsolePage };
  const outcome = await setPage(actor, { name }, paging, undefined);
  if (outcome.kind !== "done") return problem(404, "There is no such zone.");
  const { items, total } = outcome.page;
  return json(200, {
    rrsets: items.map((set) => setToWire(set, outcome.zone.number)),
    meta: { pagination: { last_page: Math.max(1, Math.ceil(total / setsPerConsolePage)) } },
  });
}
