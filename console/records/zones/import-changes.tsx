import { Radio, Stack, Text } from "@mantine/core";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { typeName } from "../../../src/core/rdata/table.ts";
import type { OwnSets } from "../../../src/core/zone-file/sets.ts";
import { shownValue } from "../sets/shown-value.ts";
import { changesInWords, type Preview } from "./preview-import.ts";

/** Asked only if the file has such records. */
export function OwnRecordsChoice(props: {
  readonly preview: Preview | undefined;
  readonly own: OwnSets;
  readonly onChange: (own: OwnSets) => void;
}) {
  if (!props.preview?.hasOwn) return null;
  return (
    <Radio.Group
      label="The file has nameservers or a SOA record for the zone itself"
      value={props.own}
      onChange={(own) => props.onChange(own as OwnSets)}
    >
      <Stack gap={4} mt={4}>
        <Radio value="zone" label="Keep this service’s nameservers and SOA" />
        <Radio value="file" label="Take the file’s: right only if those servers answer for the zone" />
      </Stack>
    </Radio.Group>
  );
}

const shown = 200;

/** What an import would change. */
export function ImportChanges(props: {
  readonly preview: Preview;
  /** How many sets the zone has now. */
  readonly count: number;
}) {
  const {
    preview: { changes, notes },
    count,
  } = props;
  const unchanged = count - changes.filter(({ kind }) => kind !== "create").length;
  return (
    <section aria-label="What will change">
      <Text size="sm" fw={600}>
        {changes.length === 0
          ? "The file matches the zone; nothing will change."
          : `${changesInWords(changes)}; ${unchanged} unchanged.`}
      </Text>
      {notes.map((note) => (
        <Text size="sm" key={note}>
          {note}
        </Text>
      ))}
      <ul
        className="mono"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so it must be reachable without a mouse
        tabIndex={0}
        aria-label="Changes"
        style={{ margin: "0.5rem 0 0", padding: 0, listStyle: "none", maxHeight: "16rem", overflow: "auto" }}
      >
        {changes.slice(0, shown).map((change) => (
          <li key={`${change.name}/${change.type}`}>
            <span className={change.kind === "delete" ? "bad" : change.kind === "create" ? "good" : ""}>
              {change.kind === "delete" ? "−" : change.kind === "create" ? "+" : "±"} {nameToUnicode(change.name)}{" "}
              {typeName(change.type)}
            </span>{" "}
            {change.before && <del className="quiet">{shownValue(change.before)}</del>}{" "}
            {change.kind === "replace" && "→ "}
            {shownValue(change.after)}
          </li>
        ))}
        {changes.length > shown && <li className="quiet">and {changes.length - shown} more</li>}
      </ul>
    </section>
  );
}
