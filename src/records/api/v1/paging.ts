export type V1Paging = { readonly page: number; readonly perPage: number };

/** A parameter that is not a number is ignored; `per_page` is capped at the maximum. */
export function pagingOf(
  query: Readonly<Record<string, unknown>>,
  { perPage, most }: { readonly perPage: number; readonly most: number },
): V1Paging {
  return {
    page: positive(query.page) ?? 1,
    perPage: Math.min(positive(query.per_page) ?? perPage, most),
  };
}

function positive(text: unknown): number | undefined {
  const number = typeof text === "string" && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number > 0 ? number : undefined;
}
