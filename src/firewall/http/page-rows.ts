/** What OPNsense's tables send to ask for a part of a list, as JSON, as a form, or in the query. */
export type PageWish = {
  readonly current: number;
  /** -1 for all of them. */
  readonly rowCount: number;
  readonly searchPhrase: string;
  readonly sort: readonly (readonly [field: string, direction: "asc" | "desc"])[];
};

export type Page<Row> = {
  readonly total: number;
  readonly rowCount: number;
  readonly current: number;
  readonly rows: readonly Row[];
};

type Cells = Readonly<Record<string, unknown>>;

/** Anything that is not a sensible wish is no wish. */
export function readPageWish(fields: Cells): PageWish {
  const sort = fields.sort;
  return {
    current: Math.max(1, wholeNumber(fields.current) ?? 1),
    rowCount: wholeNumber(fields.rowCount) ?? -1,
    searchPhrase: typeof fields.searchPhrase === "string" ? fields.searchPhrase : "",
    sort:
      typeof sort === "object" && sort !== null
        ? Object.entries(sort).map(([field, way]) => [field, way === "desc" ? "desc" : "asc"] as const)
        : [],
  };
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

/** Every word of the phrase must be in one of the cells. `total` counts what was found, `rowCount` what is shown. */
export function pageRows<Row extends Cells>(rows: readonly Row[], wish: PageWish): Page<Row> {
  const words = wish.searchPhrase.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => words.every((word) => cellTexts(row).some((text) => text.includes(word))));
  const sorted = wish.sort
    .toReversed()
    .reduce<readonly Row[]>(
      (list, [field, way]) => list.toSorted((a, b) => compareCells(a[field], b[field]) * (way === "desc" ? -1 : 1)),
      found,
    );
  const shown =
    wish.rowCount < 1 ? sorted : sorted.slice((wish.current - 1) * wish.rowCount, wish.current * wish.rowCount);
  return { total: found.length, rowCount: shown.length, current: wish.current, rows: shown };
}

const cellTexts = (row: Cells): string[] => Object.values(row).map((cell) => cellText(cell).toLowerCase());
const cellText = (cell: unknown): string => (typeof cell === "string" ? cell : (JSON.stringify(cell) ?? ""));
const compareCells = (a: unknown, b: unknown): number =>
  cellText(a).localeCompare(cellText(b), "en", { numeric: true });
