import { Text } from "@mantine/core";
import type { WirePreview } from "../../../src/contract/front.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { contentInWords } from "./publication-words.ts";

/** The first rows of each table. A zone that was never here differs in everything. */
const mostRows = 20;

type Row = { readonly name: string; readonly type: string; readonly here: string; readonly there: string };

/** What is different here and at the provider, and what cannot be carried from one to the other. */
export function PreviewTables({ preview }: { readonly preview: WirePreview }) {
  const { service } = preview;
  const rows: readonly Row[] = [
    ...preview.different.map((set) => ({ ...set, here: contentInWords(set.here), there: contentInWords(set.there) })),
    ...preview.only_there.map((set) => ({ ...set, here: "", there: contentInWords(set) })),
    ...preview.only_here.map((set) => ({ ...set, here: contentInWords(set), there: "" })),
  ];
  return (
    <>
      <Text>
        {counted(preview.equal, "record set")} the same, {rows.length} different.
      </Text>
      {rows.length > 0 && (
        <ListTable heads={["Name", "Here", `At ${service}`]}>
          {rows.slice(0, mostRows).map((row) => (
            <tr key={`${row.name}/${row.type}`}>
              <td>
                <span className="mono">{nameToUnicode(row.name)}</span> {row.type}
              </td>
              <td data-label="Here" className="mono">
                {row.here || <NoRecord />}
              </td>
              <td data-label={`At ${service}`} className="mono">
                {row.there || <NoRecord />}
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {rows.length > mostRows && <Text className="quiet">and {rows.length - mostRows} more.</Text>}
      <Reasons title={`Stays at ${service} as it is, because moor cannot represent it`} of={preview.left} />
      <Reasons title={`${service} does not take from here`} of={preview.not_allowed} />
    </>
  );
}

function Reasons({ title, of }: { readonly title: string; readonly of: WirePreview["left"] }) {
  if (of.length === 0) return null;
  return (
    <ListTable heads={[title, "Why"]}>
      {of.slice(0, mostRows).map(({ name, type, because }) => (
        <tr key={`${name}/${type}/${because}`}>
          <td>
            <span className="mono">{nameToUnicode(name)}</span> {type}
          </td>
          <td data-label="Why">{because}</td>
        </tr>
      ))}
    </ListTable>
  );
}

const NoRecord = () => <span className="quiet">no record</span>;
