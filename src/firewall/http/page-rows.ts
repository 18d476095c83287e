import type { IncomingMessage } from "node:http";
import { fieldsOfJson } from "../../core/is-object.ts";
import { readPlainRequest } from "../../lib/http/plain-request.ts";

type Cells = Readonly<Record<string, unknown>>;

export type RowsPage<Row> = {
  readonly total: number;
  readonly rowCount: number;
  readonly current: number;
  readonly rows: readonly Row[];
};

/** The page of a list that a request asks for. */
export const pageOfRequest = async <Row extends Cells>(
  request: IncomingMessage,
  rows: readonly Row[],
): Promise<RowsPage<Row>> => pageRows(rows, await readFields(request));

/**
 * `fields` is what OPNsense's tables send; invalid values are ignored. Every word of the phrase must be in
 * one of the cells. `total` counts the matches, `rowCount` the rows on this page; a requested -1 means all.
 */
export function pageRows<Row extends Cells>(rows: readonly Row[], fields: Cells): RowsPage<Row> {
  const current = Math.max(1, wholeNumber(fields.current) ?? 1);
  const rowCount = wholeNumber(fields.rowCount) ?? -1;
  const { searchPhrase, sort } = fields;
  const words = typeof searchPhrase === "string" ? searchPhrase.toLowerCase().split(/\s+/).filter(Boolean) : [];
  const matchingRows = rows.filter((row) => words.every((word) => cellTexts(row).some((text) => text.includes(word))));
  const columns = Object.entries(typeof sort === "object" && sort !== null ? sort : {});
  const sorted = columns
    .toReversed()
    .reduce<readonly Row[]>(
      (list, [field, way]) => list.toSorted((a, b) => compareCells(a[field], b[field]) * (way === "desc" ? -1 : 1)),
      matchingRows,
    );
  const shown = rowCount < 1 ? sorted : sorted.slice((current - 1) * rowCount, current * rowCount);
  return { total: matchingRows.length, rowCount: shown.length, current, rows: shown };
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

const cellTexts = (row: Cells): string[] => Object.values(row).map((cell) => cellText(cell).toLowerCase());
const cellText = (cell: unknown): string => (typeof cell === "string" ? cell : (JSON.stringify(cell) ?? ""));
const compareCells = (a: unknown, b: unknown): number =>
  cellText(a).localeCompare(cellText(b), "en", { numeric: true });

/** The fields of a JSON or form body, or of the query of a GET. A body that is invalid or too long has no fields. */
async function readFields(request: IncomingMessage): Promise<Cells> {
  const [, query = ""] = (request.url ?? "").split("?", 2);
  if (request.method === "GET" || request.method === "HEAD") return fromForm(query);
  const body = (await readPlainRequest(request))?.body ?? "";
  return /json/i.test(request.headers["content-type"] ?? "") ? fieldsOfJson(body) : fromForm(body);
}

/** `sort[name]=asc` is a nested field. */
function fromForm(text: string): Cells {
  const fields: Record<string, unknown> = {};
  const sort: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [, column] = /^sort\[([\w.-]{1,60})\]$/.exec(name) ?? [];
    if (column === undefined) fields[name] = value;
    else sort[column] = value;
  }
  return Object.keys(sort).length > 0 ? { ...fields, sort } : fields;
}
