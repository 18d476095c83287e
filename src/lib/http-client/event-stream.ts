/** One event of a `text/event-stream` (HTML Living Standard, 9.2.6). */
export type StreamEvent = { readonly event: string; readonly data: string; readonly id: string | undefined };

/** An event may have at most `longest` characters: an endless one would fill the memory. */
export function createEventStreamReader(longest: number) {
  let rest = "";
  let event = "";
  let data: string[] = [];
  let size = 0;
  let id: string | undefined;
  let retry: number | undefined;

  const take = (field: string, value: string) => {
    if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) retry = Number(value);
    else if (field === "data") {
      size += value.length + 1;
      if (size > longest) throw Object.assign(new Error("event is too long"), { code: "MOOR_TOO_LONG" });
      data.push(value);
    }
  };
  const dispatch = (): readonly StreamEvent[] => {
    const events = data.length === 0 ? [] : [{ event: event || "message", data: data.join("\n"), id }];
    event = "";
    data = [];
    size = 0;
    return events;
  };
  return {
    /** Takes the next piece of text and returns the events that it completes. */
    feed(text: string): readonly StreamEvent[] {
      rest += text;
      if (rest.length > 2 * longest) throw Object.assign(new Error("line is too long"), { code: "MOOR_TOO_LONG" });
      // A CR at the very end may be half of a CRLF: wait for more.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.flatMap((line) => {
        if (line === "") return dispatch();
        const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
        take(field, value);
        return [];
      });
    },
    /** Milliseconds that the other side wants between two tries; undefined until it sends them. */
    retry: (): number | undefined => retry,
  };
}
